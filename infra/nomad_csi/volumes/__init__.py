"""
The whole life of a volume: what is wanted, what is known, what is decided, and the steps that carry it out.

`facts` and `decide` are pure and total. The custom resources and the commands observe, decide here, carry the steps
out, and explain; they differ in where the desired and the recorded volume come from, and in who prints.

One registration from top to bottom: `VolumeResource.create` and `update`, or `apply_volumes.apply`, make a
`WantedVolume` of a `DesiredVolume`; its properties read the facts, `decide.decide_presence` decides, `steps.carry_out`
carries it out; `sending.RegistrationRun.register` writes the owner record, sends the request, takes it back where
another volume had the storage before, and confirms the record.

One removal: a resource makes a `RemovedVolume`, `decide.decide_removal` decides, and `steps.remove` waits for claims
that end (`deregistration` has for how long), deregisters, and releases the owner record; with ``on_destroy: delete``
`CreatedVolume.delete` calls `steps.delete_storage` then. A command names a volume without a state:
`deregistration.deregister`. Both delete data by `deletion.delete`, which proves first that the storage is the volume's
(`deletion_proof`, which has the options of a deletion and their defaults, such as the wait for the last snapshot).

Claims refuse a removal in `decide`. With claims a volume is deregistered only by `deregistration` (``--force``) and by
`diagnosis.claim_replacement` (`claims repair`).

When a registration may be adopted is in `decide`, whether a record is that of the stack in `ownership`, and how often
a registration is sent in `sending`. The text of a difference, as `plan` prints it, is in `compare`, the text of a
refusal in `explain`, the words of `remove` in `deregistration`, those of all commands in `outcome`.
"""
