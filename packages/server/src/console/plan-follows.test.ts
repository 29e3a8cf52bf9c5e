import { describe, expect, test } from "vitest";
import { MAX_KNOWN, MAX_OPEN, planFollows, sourceId } from "./plan-follows.ts";
import type { FoundContainer, KnownContainer } from "./plan-follows.ts";

const source = (pod: string, member = "oslo") => ({ member, pod, container: "app" });
const running = (pod: string, run = "1"): FoundContainer => ({ ...source(pod), isRunning: true, run });
const stopped = (pod: string, run = "1"): FoundContainer => ({ ...source(pod), isRunning: false, run });
const known = (pod: string, state: "active" | "ended" | "failed", member = "oslo"): KnownContainer => ({
  ...source(pod, member),
  isActive: state === "active",
  isFailed: state === "failed",
  run: "1",
});
const many = <T>(count: number, make: (pod: string) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(`many-${index}`));

interface Case {
  found: FoundContainer[];
  known: KnownContainer[];
  opens: string[];
  forgets?: string[];
  leftOut?: number;
}

const cases: Record<string, Case> = {
  "opens a new container": { found: [running("web-1")], known: [], opens: ["web-1"] },
  "opens a container that has completed, once": { found: [stopped("job-1")], known: [], opens: ["job-1"] },
  "leaves a log alone that is being read": {
    found: [running("web-1")],
    known: [known("web-1", "active")],
    opens: [],
  },
  "leaves a completed container alone whose log has ended": {
    found: [stopped("job-1")],
    known: [known("job-1", "ended")],
    opens: [],
  },
  "opens a container again that runs although its log has ended": {
    found: [running("web-1")],
    known: [known("web-1", "ended")],
    opens: ["web-1"],
  },
  "opens a container again that was restarted and has stopped since": {
    found: [stopped("web-1", "2")],
    known: [known("web-1", "ended")],
    opens: ["web-1"],
  },
  "tries again what has failed": {
    found: [stopped("web-1")],
    known: [known("web-1", "failed")],
    opens: ["web-1"],
  },
  "forgets containers of this member that are gone": {
    found: [],
    known: [known("web-1", "ended"), known("web-2", "failed"), known("web-3", "ended", "paris")],
    opens: [],
    forgets: ["oslo/web-1/app", "oslo/web-2/app"],
  },
  "reads the log of a pod that is gone to its end": { found: [], known: [known("web-1", "active")], opens: [] },
  "opens pods of a release while ended ones are remembered": {
    found: [running("new-1")],
    known: many(MAX_OPEN, (pod) => known(pod, "ended", "paris")),
    opens: ["new-1"],
  },
  "opens no more than the limit, running ones first": {
    found: [stopped("job-1"), running("new-1"), running("new-2")],
    known: many(MAX_OPEN - 2, (pod) => known(pod, "active", "paris")),
    opens: ["new-1", "new-2"],
    leftOut: 1,
  },
  "remembers a limited number": {
    found: [running("new-1")],
    known: many(MAX_KNOWN, (pod) => known(pod, "ended", "paris")),
    opens: [],
    leftOut: 1,
  },
};

describe("the containers that a log view follows", () => {
  for (const [what, { found, known: all, opens, forgets = [], leftOut = 0 }] of Object.entries(cases)) {
    test(what, () => {
      const plan = planFollows("oslo", found, new Map(all.map((each) => [sourceId(each), each])));

      expect(plan.open.map(({ pod }) => pod)).toEqual(opens);
      expect(plan.forget).toEqual(forgets);
      expect(plan.leftOut).toBe(leftOut);
    });
  }
});
