//! Workloads and simulated stores.
