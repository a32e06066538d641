"""
The whole life of a volume: what is wanted, what is known, what is decided, and the steps that carry it out.

`facts` and `decide` are pure and total. The custom resources and the commands observe, decide here, carry the steps
out, and explain; they differ in where the desired and the recorded volume come from, and in who prints.
"""
