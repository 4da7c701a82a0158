//! End-to-end tests and benchmarks of Belljar.
