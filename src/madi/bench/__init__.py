BENCHMARKS: dict = {}
