//! Traces made by hand, for unit tests of every module.

use super::{
    CommCall, DetailError, DetailSource, Field, NONE, NameId, OpKind, RangeKind, RawCall, RawOp, RawRange, RowRef,
    Source, SourceKind, Trace, TraceBuilder,
};
use crate::units::Span;
use std::sync::Arc;

/// Key of the one process that [`Fixture`] uses unless told otherwise.
pub const PID: i64 = 1 << 24;

/// A details source that knows nothing.
#[derive(Debug)]
struct NoDetails;

impl DetailSource for NoDetails {
    fn fields(&self, _row: RowRef) -> Result<Vec<Field>, DetailError> {
        Err(DetailError("made by hand".to_owned()))
    }
}

/// Builds a trace call by call.
#[derive(Debug, Default)]
pub struct Fixture {
    /// The builder, for what the shorthands leave out.
    pub builder: TraceBuilder,
    rows: u32,
}

impl Fixture {
    /// Nothing recorded yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn row(&mut self) -> u32 {
        self.rows += 1;
        self.rows
    }

    /// A kernel on device 0, without a launch.
    pub fn kernel(&mut self, name: &str, stream: i64, start_ns: i64, end_ns: i64) -> &mut Self {
        self.gpu_op(OpKind::Kernel, name, stream, start_ns, end_ns, None, None)
    }

    /// A kernel on device 0 without a launch, whose full name says more than its base name.
    pub fn kernel_named(&mut self, (short, full): (&str, &str), stream: i64, start_ns: i64, end_ns: i64) -> &mut Self {
        let full = self.builder.names().intern(full);
        self.op(OpKind::Kernel, (short, Some(full)), stream, Span::new(start_ns, end_ns), (None, None))
    }

    /// A kernel on device 0 with its launch on thread `tid`, from `launch_ns` for 2 ns.
    pub fn launched(
        &mut self,
        name: &str,
        stream: i64,
        tid: i64,
        launch_ns: i64,
        start_ns: i64,
        end_ns: i64,
    ) -> &mut Self {
        let correlation = i64::from(self.rows) + 1;
        self.call("cudaLaunchKernel_v7000", tid, launch_ns, launch_ns + 2, Some(correlation));
        self.gpu_op(OpKind::Kernel, name, stream, start_ns, end_ns, Some(correlation), None)
    }

    /// A kernel of so many thread blocks on device 0, launched by thread `tid` when it starts.
    pub fn launch_of_shape(&mut self, name: &str, stream: i64, tid: i64, span: Span, blocks: u16) -> &mut Self {
        let correlation = i64::from(self.rows) + 1;
        self.call("cudaLaunchKernel_v7000", tid, span.start_ns, span.start_ns + 2, Some(correlation));
        let short = self.builder.names().intern(name);
        let op = RawOp {
            start_ns: span.start_ns,
            end_ns: Some(span.end_ns),
            global_pid: PID,
            device: 0,
            stream,
            correlation: Some(correlation),
            kind: OpKind::Kernel,
            short,
            full: short,
            bytes: None,
            row: self.row(),
        };
        self.builder.kernel(op, blocks);
        self
    }

    /// Any GPU operation on device 0.
    #[expect(clippy::too_many_arguments, reason = "a row has as many columns")]
    pub fn gpu_op(
        &mut self,
        kind: OpKind,
        name: &str,
        stream: i64,
        start_ns: i64,
        end_ns: i64,
        correlation: Option<i64>,
        bytes: Option<u64>,
    ) -> &mut Self {
        self.op(kind, (name, None), stream, Span { start_ns, end_ns }, (correlation, bytes))
    }

    fn op(
        &mut self,
        kind: OpKind,
        (name, full): (&str, Option<NameId>),
        stream: i64,
        span: Span,
        (correlation, bytes): (Option<i64>, Option<u64>),
    ) -> &mut Self {
        let short = self.builder.names().intern(name);
        let row = self.row();
        self.builder.op(RawOp {
            start_ns: span.start_ns,
            end_ns: Some(span.end_ns),
            global_pid: PID,
            device: 0,
            stream,
            correlation,
            kind,
            short,
            full: full.unwrap_or(short),
            bytes,
            row,
        });
        self
    }

    /// An API call on thread `tid`.
    pub fn call(&mut self, name: &str, tid: i64, start_ns: i64, end_ns: i64, correlation: Option<i64>) -> &mut Self {
        let name = self.builder.names().intern(name);
        let row = self.row();
        self.builder.call(RawCall { start_ns, end_ns: Some(end_ns), global_tid: PID | tid, correlation, name, row });
        self
    }

    /// An OS runtime call on thread `tid`.
    pub fn os_call(&mut self, name: &str, tid: i64, start_ns: i64, end_ns: i64) -> &mut Self {
        let name = self.builder.names().intern(name);
        let (row, global_tid) = (self.row(), PID | tid);
        self.builder.os_call(RawCall { start_ns, end_ns: Some(end_ns), global_tid, correlation: None, name, row });
        self
    }

    /// An NVTX push/pop range on thread `tid`.
    pub fn range(&mut self, name: &str, tid: i64, start_ns: i64, end_ns: i64) -> &mut Self {
        self.range_in("", name, tid, Span::new(start_ns, end_ns), None)
    }

    /// An NVTX push/pop range of `domain` on thread `tid`, with what a communication call says of itself.
    pub fn range_in(
        &mut self,
        domain: &str,
        name: &str,
        tid: i64,
        span: Span,
        comm_call: Option<CommCall>,
    ) -> &mut Self {
        let (name, domain) = (self.builder.names().intern(name), self.builder.names().intern(domain));
        let range = RawRange {
            start_ns: span.start_ns,
            end_ns: Some(span.end_ns),
            global_tid: PID | tid,
            name,
            kind: RangeKind::PushPop,
            domain,
            category: NameId::EMPTY,
            color: NONE,
            ended_elsewhere: false,
            row: self.row(),
        };
        self.builder.comm_range(range, comm_call);
        self
    }

    /// The finished trace.
    pub fn build(&mut self) -> Trace {
        let source = Source {
            kind: SourceKind::Nsys,
            path: "made-by-hand.sqlite".into(),
            bytes: 0,
            product_version: None,
            schema_version: None,
            utc_epoch_ns: None,
            host: None,
            cuda_graph_mode: None,
            cpu_samples: false,
            duration_ns: None,
            tables: Vec::new(),
        };
        std::mem::take(&mut self.builder).finish(source, Arc::new(NoDetails))
    }
}
