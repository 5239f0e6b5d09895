//! Many lists in two flat arrays.

/// Lists of numbers, one after the other.
#[derive(Debug, Default, Clone)]
pub(crate) struct Lists {
    from: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// `pairs` are called twice: each pair is the number of a list and an item of it.
    pub(crate) fn new(count: usize, pairs: impl Fn(&mut dyn FnMut(u32, u32))) -> Self {
        let mut from = vec![0u32; count + 1];
        pairs(&mut |list, _| from[list as usize + 1] += 1);
        for list in 0..count {
            from[list + 1] += from[list];
        }
        let mut next = from.clone();
        let mut items = vec![0; from[count] as usize];
        pairs(&mut |list, item| {
            items[next[list as usize] as usize] = item;
            next[list as usize] += 1;
        });
        Lists { from, items }
    }

    /// `from` says where each list begins in `items`, and at its end where the last one ends.
    pub(crate) fn from_parts(from: Vec<u32>, items: Vec<u32>) -> Self {
        Lists { from, items }
    }

    /// Lists that are all empty, however many.
    pub(crate) fn empty() -> Self {
        Lists::default()
    }

    #[inline]
    pub(crate) fn of(&self, list: u32) -> &[u32] {
        if self.items.is_empty() {
            return &[];
        }
        &self.items[self.from[list as usize] as usize..self.from[list as usize + 1] as usize]
    }

    /// How many lists there are.
    pub(crate) fn len(&self) -> usize {
        self.from.len() - 1
    }

    /// All items of all lists.
    pub(crate) fn items(&self) -> &[u32] {
        &self.items
    }
}
