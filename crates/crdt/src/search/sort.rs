//! Puts operations in an order.

/// An order in which each edge goes from an earlier operation to a later one. If there is none, how many edges each operation still
/// waits for: more than zero for those on circles and behind them.
pub(super) fn sort(operations: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Result<Vec<u32>, Vec<u32>> {
    let mut starts = vec![0u32; operations + 2];
    let mut waiting = vec![0u32; operations];
    for (from, to) in edges.clone() {
        starts[from as usize + 2] += 1;
        waiting[to as usize] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut targets = vec![0; starts[operations + 1] as usize];
    for (from, to) in edges {
        targets[starts[from as usize + 1] as usize] = to;
        starts[from as usize + 1] += 1;
    }
    let mut order: Vec<u32> = (0..operations as u32).filter(|&op| waiting[op as usize] == 0).collect();
    let mut at = 0;
    while let Some(&op) = order.get(at) {
        at += 1;
        for &target in &targets[starts[op as usize] as usize..starts[op as usize + 1] as usize] {
            waiting[target as usize] -= 1;
            if waiting[target as usize] == 0 {
                order.push(target);
            }
        }
    }
    if order.len() == operations { Ok(order) } else { Err(waiting) }
}
