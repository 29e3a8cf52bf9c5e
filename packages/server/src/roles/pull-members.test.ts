import { expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import { UsageError } from "@flotilla/base";
import { checkPulling } from "./pull-members.ts";

const joined = (name: string, syncMode: "Push" | "Pull"): Cluster => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name },
  spec: { syncMode },
});
const members = ["member1", "member2", "member3"];

function thrownBy(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

const cases: Record<string, { pull: readonly string[] | "all"; before: Cluster[]; refused?: string }> = {
  "members of a new fleet may use pull mode": { pull: ["member2"], before: [] },
  "pull-mode members of an earlier start stay in pull mode": {
    pull: "all",
    before: members.map((name) => joined(name, "Pull")),
  },
  "an unknown member is reported": {
    pull: ["member1", "membr2"],
    before: [],
    refused: "--pull: member 'membr2' not found (did you mean 'member2'?); this fleet has member1, member2, member3",
  },
  "a push-mode member stays one until it leaves": {
    pull: ["member1", "member2"],
    before: [joined("member1", "Pull"), joined("member2", "Push")],
    refused:
      "--pull: member2 joined in push mode, and it cannot switch in this data directory; start without --pull " +
      "and run 'flotilla unjoin member2' first, or choose another directory with --data DIR",
  },
};
for (const [behaviour, { pull, before, refused }] of Object.entries(cases)) {
  test(behaviour, () => {
    const thrown = thrownBy(() => checkPulling(pull, members, before));

    expect(thrown).toEqual(refused === undefined ? undefined : new UsageError(refused));
  });
}
