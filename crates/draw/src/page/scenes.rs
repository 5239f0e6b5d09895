//! From evidence to scenes: what is drawn at a time.
//!
//! A circle, or a faulty read, is one scene. A proof by cases has one for what is known in all of them, and one for each case with its circle:
//! their arrows contradict each other, so that no single drawing can have them all.

use isonomy_checker::{Counterexample, Edge, Evidence, Explanation, Topic};
use isonomy_history::{EventId, History};

use crate::draft::{Draft, Role};
use crate::gather;
use crate::model::Panel;

/// Cases beyond these are told and not drawn.
const MOST_CASES: usize = 24;

/// A drawing of its own.
pub(super) struct Scene {
    /// What it shows, where there are several.
    pub(super) caption: Option<String>,
    pub(super) panel: Panel,
    /// The case whose circle it shows; `None` for what is known in all cases.
    case: Option<usize>,
    /// For each edge of the circle, its arrow, and those that it rests on.
    arrows: Vec<(usize, Vec<usize>)>,
}

impl Scene {
    /// The arrows of an edge of the circle: its own, and those of its reasons.
    pub(super) fn arrows_of(&self, edge: usize) -> (usize, &[usize]) {
        let (arrow, reasons) = &self.arrows[edge];
        (*arrow, reasons)
    }

    /// The events that it shows.
    fn events(&self) -> impl Iterator<Item = EventId> {
        self.panel.boxes.iter().flat_map(|b| &b.lines).filter_map(|line| line.event)
    }

    /// The arrows of the whole circle.
    pub(super) fn circle(&self) -> Vec<usize> {
        self.arrows.iter().map(|(arrow, _)| *arrow).collect()
    }
}

pub(super) fn scenes(history: &History, counterexample: &Counterexample, explanation: &Explanation<'_>) -> Vec<Scene> {
    let observed = |draft: &mut Draft<'_>| gather::observed(draft, explanation);
    match &counterexample.evidence {
        Evidence::Read(fault) => {
            let panel = gather::faulty_read(history, fault, explanation);
            vec![Scene { caption: None, panel, case: Some(0), arrows: Vec::new() }]
        }
        Evidence::Cycle(edges) => vec![circle(history, 0, edges, None, observed)],
        Evidence::Refutation(refutation) => {
            let mut leaves = gather::leaves(&refutation.cases);
            // Cases come as the story has them.
            let steps = &explanation.steps;
            let told =
                |case: usize| steps.iter().position(|step| case_of(step.topic) == Some(case)).unwrap_or(usize::MAX);
            leaves.sort_by_cached_key(|leaf| told(leaf.case));
            let drawn = &leaves[..leaves.len().min(MOST_CASES)];
            let mut scenes = Vec::new();
            if leaves.len() > 1 {
                let mut known = Draft::new(history);
                for edge in drawn.iter().flat_map(|leaf| leaf.edges) {
                    gather::fact(history, &mut known, edge);
                }
                observed(&mut known);
                let caption = Some("What is known in all cases".into());
                scenes.push(Scene { caption, panel: known.finish(None, true), case: None, arrows: Vec::new() });
            }
            // A transaction looks the same in all scenes.
            let shown: Vec<EventId> = scenes.iter().flat_map(Scene::events).collect();
            for (index, leaf) in drawn.iter().enumerate() {
                let caption = gather::caption(history, &format!("Circle {}", index + 1), &leaf.supposed);
                scenes.push(circle(history, leaf.case, leaf.edges, Some(caption), |draft| {
                    shown.iter().for_each(|&event| draft.event(event));
                    if leaves.len() == 1 {
                        observed(draft);
                    }
                }));
            }
            // All scenes tell times from the same moment on.
            let clock = scenes.first().and_then(|scene| scene.panel.clock);
            scenes.iter_mut().for_each(|scene| scene.panel.clock = scene.panel.clock.and(clock));
            scenes
        }
    }
}

/// A circle, the reasons of its edges, and what is shown beside.
fn circle(
    history: &History,
    case: usize,
    edges: &[Edge],
    caption: Option<String>,
    beside: impl FnOnce(&mut Draft<'_>),
) -> Scene {
    let mut draft = Draft::new(history);
    // Reasons come after all of the circle: an arrow that is both is then of the circle.
    let own: Vec<usize> = edges.iter().map(|edge| draft.edge(edge, Role::Main)).collect();
    let arrows = own.into_iter().zip(edges).map(|(arrow, edge)| (arrow, draft.reasons(edge))).collect();
    beside(&mut draft);
    Scene { caption, panel: draft.finish(None, true), case: Some(case), arrows }
}

/// The scene that shows what a sentence speaks of. What is known is shown where there is nothing better.
pub(super) fn scene_of(scenes: &[Scene], topic: Topic) -> Option<usize> {
    match case_of(topic) {
        // Evidence that nobody certified may have no circle at all.
        None => (!scenes.is_empty()).then_some(0),
        case => scenes.iter().position(|scene| scene.case == case),
    }
}

/// The case whose circle a sentence speaks of.
fn case_of(topic: Topic) -> Option<usize> {
    match topic {
        Topic::Read | Topic::Split { .. } | Topic::Side { .. } | Topic::Observed { .. } => None,
        Topic::Edge { case, .. } | Topic::Cycle { case } => Some(case),
    }
}
