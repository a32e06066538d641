"""
The catalogue: what each CSI driver needs, as dated data with its sources. One file per driver.

Pure data. Not here: any choice that depends on what an operator wrote.
"""
