//! A large array of zeros for random access.
//!
//! Where the system can be asked for large pages it is: the table of values is read at random, and with small pages most of
//! those reads miss the translation cache too.

use memmap2::MmapMut;

/// Smaller arrays gain nothing from large pages.
const LARGE: usize = 1 << 21;

pub(crate) enum Slots {
    Small(Vec<u64>),
    Large(MmapMut),
}

impl Slots {
    pub(crate) fn zeroed(slots: usize) -> Self {
        let bytes = slots * size_of::<u64>();
        if bytes >= LARGE
            && let Ok(map) = MmapMut::map_anon(bytes)
        {
            // A system that has no large pages says so; small ones do as well.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            return Slots::Large(map);
        }
        Slots::Small(vec![0; slots])
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[u64] {
        match self {
            Slots::Small(slots) => slots,
            // A map begins on a page, so that it is aligned for any number.
            Slots::Large(map) => bytemuck::cast_slice(map),
        }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u64] {
        match self {
            Slots::Small(slots) => slots,
            Slots::Large(map) => bytemuck::cast_slice_mut(map),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.as_slice().len()
    }
}
