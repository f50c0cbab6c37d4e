//! Columns while rows still come in: unsorted, with the correlation ids that are dropped after the join.

use super::raw::{RawCall, RawOp, RawRange, RawSync};
use super::{
    CallTable, CommCall, CopyEnds, NONE, NameId, OpKind, OpNameId, OpTable, RangeKind, RangeTable, Stream, SyncTable,
};
use crate::units::Span;
use std::cmp::Reverse;

/// End of a call or range that was never closed, until the capture's end is known.
const OPEN: i64 = i64::MAX;

/// Correlation ids as the columns hold them; ids outside 32 bits are none, as CUPTI counts in 32.
fn correlation(id: Option<i64>) -> u32 {
    id.and_then(|id| u32::try_from(id).ok()).unwrap_or(NONE)
}

/// The order that sorts rows by `key`, or `None` when they are in order already.
///
/// The sort is stable and finds runs: rows that came as a few sorted runs (one per table) merge in linear time.
fn order_by<K: Ord>(len: usize, key: impl Fn(usize) -> K) -> Option<Vec<u32>> {
    if (1..len).all(|at| key(at - 1) <= key(at)) {
        return None;
    }
    let mut order: Vec<u32> = (0..len as u32).collect();
    order.sort_by_key(|at| key(*at as usize));
    Some(order)
}

/// `column` in the given order. Takes the column by value so that only one column exists twice at any time.
fn permute<T: Copy>(column: Vec<T>, order: Option<&Vec<u32>>) -> Vec<T> {
    let mut sorted = match order {
        None => column,
        Some(order) => order.iter().map(|at| column[*at as usize]).collect(),
    };
    sorted.shrink_to_fit();
    sorted
}

/// A column that only some rows have, as (row, value), in the given order and sorted by row.
fn permute_sparse<T>(mut column: Vec<(u32, T)>, order: Option<&Vec<u32>>) -> Vec<(u32, T)> {
    if let Some(order) = order.filter(|_| !column.is_empty()) {
        let mut new_place = vec![0_u32; order.len()];
        for (new, old) in order.iter().enumerate() {
            new_place[*old as usize] = new as u32;
        }
        for (row, _) in &mut column {
            *row = new_place[*row as usize];
        }
        column.sort_unstable_by_key(|(row, _)| *row);
    }
    column.shrink_to_fit();
    column
}

/// GPU operations of one rank.
#[derive(Debug, Default)]
pub(super) struct OpColumns {
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
    name: Vec<OpNameId>,
    kind: Vec<OpKind>,
    stream: Vec<u16>,
    correlation: Vec<u32>,
    row: Vec<u32>,
    bytes: Vec<(u32, u64)>,
    /// Shorter than the others when the last operations told none.
    blocks: Vec<u16>,
    copies: Vec<(u32, CopyEnds)>,
    streams: Vec<i64>,
}

impl OpColumns {
    pub fn push(&mut self, op: &RawOp, end_ns: i64, name: OpNameId) {
        if let Some(bytes) = op.bytes {
            self.bytes.push((self.start_ns.len() as u32, bytes));
        }
        let stream = self.stream(op.stream);
        self.start_ns.push(op.start_ns);
        self.end_ns.push(end_ns);
        self.name.push(name);
        self.kind.push(op.kind);
        self.stream.push(stream);
        self.correlation.push(correlation(op.correlation));
        self.row.push(op.row);
    }

    /// Says how many thread blocks the operation pushed last has; 0 when that is not known.
    pub fn blocks(&mut self, blocks: u16) {
        if blocks > 0 && !self.start_ns.is_empty() {
            self.blocks.resize(self.start_ns.len(), 0);
            if let Some(last) = self.blocks.last_mut() {
                *last = blocks;
            }
        }
    }

    /// Says what the operation pushed last moved between.
    pub fn copy_ends(&mut self, ends: CopyEnds) {
        if let Some(last) = self.start_ns.len().checked_sub(1) {
            self.copies.push((last as u32, ends));
        }
    }

    /// Index of a stream id. A rank has few streams, and neighbours in the file share one.
    fn stream(&mut self, id: i64) -> u16 {
        if let Some(last) = self.stream.last()
            && self.streams.get(*last as usize) == Some(&id)
        {
            return *last;
        }
        let at = self.streams.iter().position(|known| *known == id).unwrap_or_else(|| {
            self.streams.push(id);
            self.streams.len() - 1
        });
        u16::try_from(at).unwrap_or(u16::MAX)
    }

    pub fn hull(&self) -> Option<Span> {
        Some(Span::new(*self.start_ns.iter().min()?, *self.end_ns.iter().max()?))
    }

    pub fn into_table(self, launch_of: impl Fn(u32) -> u32) -> (OpTable, Vec<Stream>) {
        let order =
            order_by(self.start_ns.len(), |at| (self.start_ns[at], self.end_ns[at], self.kind[at], self.row[at]));
        let order = order.as_ref();
        let (streams, place) = sorted_streams(&self.streams);
        let bytes = permute_sparse(self.bytes, order);
        let copies = permute_sparse(self.copies, order);
        let mut blocks = self.blocks;
        if !blocks.is_empty() {
            blocks.resize(self.start_ns.len(), 0);
            blocks = permute(blocks, order);
        }
        let mut launch = permute(self.correlation, order);
        launch.iter_mut().for_each(|slot| *slot = launch_of(*slot));
        let mut stream = permute(self.stream, order);
        stream.iter_mut().for_each(|slot| *slot = place.get(*slot as usize).copied().unwrap_or(*slot));
        let ops = OpTable {
            start_ns: permute(self.start_ns, order),
            end_ns: permute(self.end_ns, order),
            name: permute(self.name, order),
            kind: permute(self.kind, order),
            stream,
            launch,
            row: permute(self.row, order).into(),
            bytes,
            blocks,
            copies,
        };
        (ops, streams)
    }
}

/// Streams ordered by id, and where each of the given ones went.
fn sorted_streams(ids: &[i64]) -> (Vec<Stream>, Vec<u16>) {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|at| ids[*at]);
    let mut place = vec![0_u16; ids.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = u16::try_from(new).unwrap_or(u16::MAX);
    }
    (order.iter().map(|at| Stream { id: ids[*at] }).collect(), place)
}

/// Calls of one thread.
#[derive(Debug, Default)]
pub(super) struct CallColumns {
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
    name: Vec<NameId>,
    correlation: Vec<u32>,
    row: Vec<u32>,
}

impl CallColumns {
    pub fn push(&mut self, call: &RawCall) {
        self.start_ns.push(call.start_ns);
        self.end_ns.push(call.end_ns.unwrap_or(OPEN));
        self.name.push(call.name);
        self.correlation.push(correlation(call.correlation));
        self.row.push(call.row);
    }

    pub fn first_start_ns(&self) -> Option<i64> {
        self.start_ns.iter().min().copied()
    }

    pub fn last_end_ns(&self) -> Option<i64> {
        last_end_ns(&self.start_ns, &self.end_ns)
    }

    /// Sorts the calls and puts them behind those of the process's other threads.
    pub fn append_to(mut self, table: &mut CallTable, joins: &mut CallJoins, capture_end_ns: i64) {
        close(&mut self.end_ns, &self.start_ns, capture_end_ns);
        let order = order_by(self.start_ns.len(), |at| (self.start_ns[at], Reverse(self.end_ns[at]), self.row[at]));
        let order = order.as_ref();
        append(&mut table.start_ns, permute(self.start_ns, order));
        append(&mut table.end_ns, permute(self.end_ns, order));
        append(&mut table.name, permute(self.name, order));
        append(&mut joins.rows, permute(self.row, order));
        append(&mut joins.correlations, permute(self.correlation, order));
    }

    pub fn into_table(self, capture_end_ns: i64) -> CallTable {
        let mut table = CallTable::default();
        let mut joins = CallJoins::default();
        self.append_to(&mut table, &mut joins, capture_end_ns);
        table.row = joins.rows.into();
        table
    }
}

/// What is known of a process's calls besides their table, in the same order.
#[derive(Debug, Default)]
pub(super) struct CallJoins {
    pub correlations: Vec<u32>,
    pub rows: Vec<u32>,
}

/// Appends, without a copy when there was nothing before.
fn append<T>(column: &mut Vec<T>, mut more: Vec<T>) {
    if column.is_empty() {
        *column = more;
    } else {
        column.append(&mut more);
    }
}

fn last_end_ns(start_ns: &[i64], end_ns: &[i64]) -> Option<i64> {
    start_ns.iter().zip(end_ns).map(|(start, end)| if *end == OPEN { *start } else { *end }).max()
}

fn close(end_ns: &mut [i64], start_ns: &[i64], capture_end_ns: i64) {
    for (end, start) in end_ns.iter_mut().zip(start_ns) {
        if *end == OPEN {
            *end = capture_end_ns.max(*start);
        }
    }
}

/// NVTX events of one thread.
#[derive(Debug, Default)]
pub(super) struct RangeColumns {
    table: RangeTable,
    row: Vec<u32>,
}

impl RangeColumns {
    pub fn push(&mut self, range: &RawRange, domain: u16, category: u16, comm_call: Option<CommCall>) {
        let table = &mut self.table;
        if let Some(call) = comm_call {
            table.comm_calls.push((table.start_ns.len() as u32, call));
        }
        table.start_ns.push(range.start_ns);
        table.end_ns.push(range.end_ns.unwrap_or(OPEN));
        table.name.push(range.name);
        table.kind.push(range.kind);
        table.open.push(range.end_ns.is_none());
        table.ended_elsewhere.push(range.ended_elsewhere);
        table.domain.push(domain);
        table.category.push(category);
        table.color.push(range.color);
        self.row.push(range.row);
    }

    pub fn first_start_ns(&self) -> Option<i64> {
        self.table.start_ns.iter().min().copied()
    }

    pub fn last_end_ns(&self) -> Option<i64> {
        last_end_ns(&self.table.start_ns, &self.table.end_ns)
    }

    pub fn into_table(self, capture_end_ns: i64) -> RangeTable {
        let mut table = self.table;
        close(&mut table.end_ns, &table.start_ns, capture_end_ns);
        let order = order_by(table.start_ns.len(), |at| {
            let start_end = table.kind[at] == RangeKind::StartEnd;
            (table.start_ns[at], Reverse(table.end_ns[at]), start_end, self.row[at])
        });
        let order = order.as_ref();
        RangeTable {
            start_ns: permute(table.start_ns, order),
            end_ns: permute(table.end_ns, order),
            name: permute(table.name, order),
            kind: permute(table.kind, order),
            open: permute(table.open, order),
            ended_elsewhere: permute(table.ended_elsewhere, order),
            domain: permute(table.domain, order),
            category: permute(table.category, order),
            color: permute(table.color, order),
            row: permute(self.row, order).into(),
            comm_calls: permute_sparse(table.comm_calls, order),
        }
    }
}

/// Synchronisation records of one rank.
#[derive(Debug, Default)]
pub(super) struct SyncColumns {
    table: SyncTable,
    row: Vec<u32>,
}

impl SyncColumns {
    pub fn push(&mut self, sync: &RawSync, end_ns: i64) {
        let table = &mut self.table;
        table.start_ns.push(sync.start_ns);
        table.end_ns.push(end_ns);
        table.sync_type.push(sync.sync_type);
        table.stream_id.push(sync.stream);
        table.launch.push(correlation(sync.correlation));
        self.row.push(sync.row);
    }

    pub fn into_table(self, launch_of: impl Fn(u32) -> u32) -> SyncTable {
        let mut table = self.table;
        table.launch.iter_mut().for_each(|slot| *slot = launch_of(*slot));
        let order = order_by(table.start_ns.len(), |at| (table.start_ns[at], table.end_ns[at], self.row[at]));
        let order = order.as_ref();
        SyncTable {
            start_ns: permute(table.start_ns, order),
            end_ns: permute(table.end_ns, order),
            sync_type: permute(table.sync_type, order),
            stream_id: permute(table.stream_id, order),
            launch: permute(table.launch, order),
            row: permute(self.row, order).into(),
        }
    }
}
