//! SQLite exports of Nsight Systems: the only place that knows SQLite and nsys table and column names.

pub mod write;
