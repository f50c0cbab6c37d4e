//! A small training job built by hand: two ranks, steps with forward, backward and optimizer, a slow step, a gap.

use std::sync::Arc;
use stepscope::analysis::{Params, analyze};
use stepscope::app::load::Opened;
use stepscope::trace::{
    CopyKind, DetailError, DetailSource, Field, Gpu, NONE, NameId, OpKind, Quantity, RangeKind, RawCall, RawOp,
    RawRange, RowRef, Source, SourceKind, TableCount, Trace, TraceBuilder, Warning,
};

const US: i64 = 1_000;

/// Answers every row with three fields.
#[derive(Debug)]
struct ThreeFields;

impl DetailSource for ThreeFields {
    fn fields(&self, row: RowRef) -> Result<Vec<Field>, DetailError> {
        let end = Field { quantity: Some(Quantity::Nanoseconds(1_500_000)), ..Field::plain("end", "1500000") };
        Ok(vec![Field::plain("row", row.row.to_string()), Field::plain("gridX", "132"), end])
    }
}

struct Job {
    builder: TraceBuilder,
    pid: i64,
    row: u32,
}

impl Job {
    fn name(&mut self, text: &str) -> NameId {
        self.builder.names().intern(text)
    }

    fn launch(&mut self, call: &str, at_ns: i64) -> i64 {
        self.row += 1;
        let (name, row) = (self.name(call), self.row);
        let correlation = Some(i64::from(row));
        let (start_ns, global_tid) = (at_ns, self.pid | 1);
        self.builder.call(RawCall { start_ns, end_ns: Some(at_ns + 6 * US), global_tid, correlation, name, row });
        i64::from(row)
    }

    fn op(&mut self, kind: OpKind, name: &str, stream: i64, from_ns: i64, to_ns: i64) {
        let call = if kind == OpKind::Kernel { "cudaLaunchKernel_v7000" } else { "cudaMemcpyAsync_v3020" };
        let correlation = Some(self.launch(call, from_ns - 20 * US));
        let short = self.name(name);
        let full = self.name(&format!("void {name}<float, 128, 64>(float const*, float*, int)"));
        let bytes = (kind != OpKind::Kernel).then_some(4 << 20);
        self.builder.op(RawOp {
            start_ns: from_ns,
            end_ns: Some(to_ns),
            global_pid: self.pid,
            device: 0,
            stream,
            correlation,
            kind,
            short,
            full,
            bytes,
            row: self.row,
        });
    }

    fn range(&mut self, text: &str, from_ns: i64, to_ns: i64) {
        self.row += 1;
        let (name, row) = (self.name(text), self.row);
        self.builder.range(RawRange {
            start_ns: from_ns,
            end_ns: Some(to_ns),
            global_tid: self.pid | 1,
            name,
            kind: RangeKind::PushPop,
            domain: NameId::EMPTY,
            category: NameId::EMPTY,
            color: NONE,
            ended_elsewhere: false,
            row,
        });
    }

    /// One step; the result is where the next may begin.
    fn step(&mut self, number: i64, start_ns: i64, slow: i64) -> i64 {
        let mut at = start_ns + 60 * US;
        self.op(OpKind::Memcpy(CopyKind::HostToDevice), "", 14, at, at + 80 * US);
        at += 100 * US;
        let forward = at;
        for layer in 0..6 {
            let work = (90 + 10 * layer) * US * slow;
            self.op(OpKind::Kernel, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", 7, at, at + work);
            self.op(OpKind::Kernel, "vectorized_elementwise_kernel", 7, at + work + 3 * US, at + work + 25 * US);
            at += work + 30 * US;
        }
        self.range("forward", forward - 40 * US, at - 30 * US);
        let backward = at;
        for layer in 0..6 {
            let work = (180 + 15 * layer) * US;
            self.op(OpKind::Kernel, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nt", 7, at, at + work);
            self.op(OpKind::Kernel, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, at + work, at + work + 150 * US);
            at += work + 5 * US;
        }
        self.range("backward", backward - 40 * US, at - 40 * US);
        at += 160 * US;
        self.op(OpKind::Kernel, "multi_tensor_apply_kernel", 7, at, at + 120 * US);
        self.range("optimizer", at - 60 * US, at + 10 * US);
        at += 125 * US;
        self.range(&format!("step {number}"), start_ns, at - 100 * US);
        at + 200 * US
    }
}

/// The rank whose slow step is another one than that of the others.
pub const LATER: usize = 9;

/// Rank `rank` of the job, with `steps` steps.
pub fn trace(rank: usize, steps: i64) -> Trace {
    let mut job = Job { builder: TraceBuilder::new(), pid: (0x40 + rank as i64) << 24, row: 0 };
    let pid = job.pid;
    let mut at = 1_000_000 + 30_000 * rank as i64;
    let slow = if rank == LATER { 7 } else { 5 };
    for number in 0..steps {
        at = job.step(number, at, if number == slow { 5 } else { 1 });
    }
    let python = job.name("python");
    job.builder.process_name(pid, python);
    job.builder.thread_name(pid | 1, python, 0);
    let gpu = job.builder.gpu(Gpu {
        name: "NVIDIA A100-SXM4-40GB".to_owned(),
        memory_bytes: Some(40 << 30),
        sm_count: Some(108),
        compute_capability: Some("8.0".to_owned()),
        bus: Some("0000:07:00.0".to_owned()),
    });
    job.builder.device_gpu(None, 0, gpu);
    job.builder.rank_label(None, rank.to_string());
    job.builder.warn(Warning {
        code: "missing-table",
        message: "The file has no table of OS runtime calls; waits of host threads are not named.".to_owned(),
        count: 1,
    });
    let source = Source {
        kind: SourceKind::Nsys,
        path: format!("gpt_rank{rank}.sqlite").into(),
        bytes: 7 << 20,
        product_version: Some("2026.2.1".to_owned()),
        schema_version: Some("3.24.2".to_owned()),
        utc_epoch_ns: Some(1_800_000_000_000_000_000),
        host: Some("node1".to_owned()),
        cuda_graph_mode: None,
        cpu_samples: false,
        duration_ns: Some(at),
        tables: vec![TableCount { table: "kernels".to_owned(), rows: 12_345 }],
    };
    job.builder.finish(source, Arc::new(ThreeFields))
}

/// Rank `rank` with its numbers.
pub fn opened(rank: usize, steps: i64) -> Opened {
    let trace = trace(rank, steps);
    let analysis = analyze(&trace, &Params::default());
    (Arc::new(trace), Arc::new(analysis))
}

/// As [`opened`], from a file of another name.
pub fn opened_as(rank: usize, steps: i64, file: &str) -> Opened {
    let mut trace = trace(rank, steps);
    trace.source.path = file.into();
    let analysis = analyze(&trace, &Params::default());
    (Arc::new(trace), Arc::new(analysis))
}
