//! What a read returns: what a script or a chooser says, or what is drawn.

use std::fmt::Display;

use isonomy_workload::Rng;

use crate::committed::Committed;
use crate::draw;
use crate::keys::{KeyId, Version};
use crate::options::Choice;
use crate::order::Past;
use crate::replay::Cue;
use crate::state::State;
use crate::strong::{Stale, Strong};
use crate::weak::Weak;

/// A read: the how many-th of which transaction of which session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadPlace {
    pub(crate) session: u32,
    pub(crate) number: u32,
    pub(crate) read: u32,
}

/// What a read returned, and of how many.
pub(crate) type Chosen = (Option<Version>, usize);

impl<V: Clone + Display> State<V> {
    /// Reads a key at one of the weak levels.
    pub(crate) fn read_weak(
        &mut self,
        weak: &mut Weak,
        past: &Past,
        choice: Choice,
        place: ReadPlace,
        id: KeyId,
    ) -> Chosen {
        let mut allowed = weak.allowed(id, past, &self.committed);
        let count = allowed.len();
        let cue = self.cue(place, id);
        if let Some(Cue::From(from)) = cue
            && let Some(version) = self.version_from(id, from)
            && admit(weak, id, version, past, &mut self.committed)
        {
            return (version, count);
        }
        let choice = self.improvised(cue, choice);
        let mut rng = self.rng_of(place);
        if self.chooser.is_none() || cue.is_some() {
            let mut attempt = 0;
            while let Some(version) = {
                let session_of = |version| self.source(version).0;
                draw::draw(choice, self.committed.key(id), &mut allowed, attempt, &mut rng, session_of)
            } {
                if admit(weak, id, version, past, &mut self.committed) {
                    return (version, count);
                }
                if attempt == 0 && choice != Choice::Latest {
                    weak.find_limits(&self.committed);
                    allowed = weak.allowed(id, past, &self.committed);
                }
                attempt += 1;
            }
        }
        let admitted = self.admitted(weak, past, id);
        let version = match &mut self.chooser {
            _ if admitted.len() == 1 => admitted[0],
            Some(chooser) if cue.is_none() => admitted[chooser.choose(admitted.len())],
            _ => admitted[rng.below(admitted.len() as u64) as usize],
        };
        let is_admitted = admit(weak, id, version, past, &mut self.committed);
        assert!(is_admitted, "it was a moment ago");
        (version, admitted.len())
    }

    /// Reads a key at one of the strong levels.
    pub(crate) fn read_strong(
        &mut self,
        strong: &mut Strong,
        choice: Choice,
        place: ReadPlace,
        id: KeyId,
    ) -> Result<Chosen, Stale> {
        let mut allowed = strong.allowed(id, &self.committed)?;
        let count = allowed.len();
        let cue = self.cue(place, id);
        let scripted = match cue {
            Some(Cue::From(from)) => {
                let all = draw::all(self.committed.key(id), &allowed);
                self.version_from(id, from).filter(|version| all.contains(version))
            }
            _ => None,
        };
        let version = match scripted {
            Some(version) => version,
            None => {
                let choice = self.improvised(cue, choice);
                let mut rng = self.rng_of(place);
                let key = self.committed.key(id);
                match &mut self.chooser {
                    Some(chooser) if cue.is_none() => {
                        let chosen = if count == 1 { 0 } else { chooser.choose(count) };
                        allowed.by_age(key, chosen)
                    }
                    _ => draw::draw(choice, key, &mut allowed, 0, &mut rng, |version| self.source(version).0)
                        .expect("every prefix has some version"),
                }
            }
        };
        strong.read(id, version.map(|version| version.node), &self.committed);
        Ok((version, count))
    }

    /// All versions that a read may return, newest first.
    fn admitted(&mut self, weak: &Weak, past: &Past, id: KeyId) -> Vec<Option<Version>> {
        let allowed = weak.allowed(id, past, &self.committed);
        let mut admitted = Vec::new();
        for version in draw::all(self.committed.key(id), &allowed) {
            let demands = weak.demands(id, version.map(|version| version.node), past, &self.committed);
            if let Some(added) = demands.and_then(|edges| self.committed.order.add(&edges).ok()) {
                self.committed.order.take_back(added);
                admitted.push(version);
            }
        }
        assert!(!admitted.is_empty(), "the last version in sight is always allowed");
        admitted
    }

    fn cue(&self, place: ReadPlace, id: KeyId) -> Option<Cue> {
        let key = &self.committed.key(id).name;
        self.script.as_ref().map(|script| script.cue(place.session, place.number, place.read as usize, key))
    }

    /// How to choose where a script does not say what can be done.
    fn improvised(&mut self, cue: Option<Cue>, choice: Choice) -> Choice {
        self.counts.strayed += u64::from(matches!(cue, Some(Cue::From(_) | Cue::Unknown)));
        if cue.is_some() { Choice::Newest } else { choice }
    }

    /// What a transaction wrote, if it did; or the initial state.
    fn version_from(&self, id: KeyId, from: Option<(u32, u32)>) -> Option<Option<Version>> {
        let Some(from) = from else { return Some(None) };
        let versions = self.committed.key(id).chains().iter().flat_map(|(_, versions)| versions);
        versions.copied().find(|version| self.source(*version) == from).map(Some)
    }

    /// What a read draws depends on who reads, not on who came before.
    fn rng_of(&self, place: ReadPlace) -> Rng {
        let ReadPlace { session, number, read } = place;
        let stream = (u64::from(session) << 48) ^ (u64::from(number) << 20) ^ u64::from(read);
        Rng::stream(self.options.seed, stream ^ (1 << 63))
    }
}

/// Whether a read may return a version: if so, it is noted.
fn admit(weak: &mut Weak, id: KeyId, version: Option<Version>, past: &Past, committed: &mut Committed) -> bool {
    let node = version.map(|version| version.node);
    let demands = weak.demands(id, node, past, committed);
    let Some(added) = demands.and_then(|edges| committed.order.add(&edges).ok()) else { return false };
    if added.is_news() {
        weak.find_limits(committed);
    }
    weak.read(id, node, committed);
    true
}
