//! A judge that returns the gate's verdicts, and remembers them.

use callwright::call::Call;
use callwright::rescue::Notation;
use callwright::wire::EnvelopeDefect;
use callwright::{Gate, Verdict};
use callwright_gateway::{CallJudge, Decision, NewCall, SplitCall};

#[derive(Default)]
pub(crate) struct Judge {
    /// Notation, tool and verdict of each call.
    pub(crate) verdicts: Vec<(Option<&'static str>, String, &'static str)>,
    /// The ids of these calls.
    pub(crate) ids: Vec<String>,
    pub(crate) mended: Vec<&'static str>,
}

impl CallJudge for Judge {
    fn judge(&mut self, gate: &Gate, call: &Call<'_>, split: &mut SplitCall<'_>) -> Decision {
        let tool = gate.tool(&call.tool);
        if tool.is_some_and(|tool| tool.spec().input_schema.is_none()) {
            return Decision::Leave;
        }
        let verdict = gate.judge(call);
        if let Verdict::Refused(_) = verdict
            && let Some(calls) = split(call)
        {
            let new = calls.iter().map(|call| {
                let decision = self.judge(gate, call, &mut |_| None);
                match (decision, gate.judge(call)) {
                    (Decision::Change(new), _) => new,
                    (Decision::Valid, verdict) => NewCall {
                        tool: call.tool.to_string(),
                        arguments: verdict.arguments().expect("arguments").to_string(),
                    },
                    (decision, _) => panic!("{decision:?} of a call that was taken apart"),
                }
            });
            return Decision::Split(new.collect());
        }
        let notation = call.rescued.map(Notation::name);
        let told = (notation, call.tool.to_string(), verdict.name());
        self.verdicts.push(told);
        let id = call.id.as_ref().and_then(|id| id.as_str());
        self.ids.push(id.unwrap_or_default().to_owned());
        match verdict {
            Verdict::Repaired(repaired) => Decision::Change(NewCall {
                tool: repaired.tool().name().to_owned(),
                arguments: repaired.arguments().to_string(),
            }),
            Verdict::Valid(_) => Decision::Valid,
            Verdict::Refused(_) => Decision::Leave,
        }
    }

    fn mended(&mut self, defect: EnvelopeDefect) {
        self.mended.push(defect.name());
    }
}
