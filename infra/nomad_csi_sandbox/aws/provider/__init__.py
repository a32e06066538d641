"""
An emulator of Pulumi's ``aws`` provider: the resource types that the stack uses, over boto3, against moto.

Not the real provider: few types, no waiters worth the name, no schema. It can only be attached to an engine
(``PULUMI_DEBUG_PROVIDERS=aws:PORT``), is never on PATH under the real provider's name, and refuses to start unless
AWS_ENDPOINT_URL is a loopback address. It never does what the real provider would not: it adopts nothing, and what
moto lets through although AWS refuses it is refused in `refusals`.

One module for each AWS service; `kinds` says what a resource type is, `inputs` what follows from that, `servicer`
puts it on the wire.
"""
