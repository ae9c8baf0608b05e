"""The benchmark behind ``tritri bench``: this library beside what people use today, on the CPU and on GPUs.

`products` says what is multiplied, `grid` which cases there are, `host` and `cuda` how a machine makes inputs, runs and times them and which peers it has,
`reference` what comes out in exact arithmetic, `run` goes through a grid, `accuracy` measures errors, `report` and `plot` show what was found.
Never imported by `tritri` itself.
"""
