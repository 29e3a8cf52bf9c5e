import { expect, test } from "vitest";
import type { Cluster } from "../../api/index.ts";
import { UsageError } from "../../base/index.ts";
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
  "members of a new fleet may pull": { pull: ["member2"], before: [] },
  "members that pulled before still do": { pull: "all", before: members.map((name) => joined(name, "Pull")) },
  "a member that there is not is told": {
    pull: ["member1", "membr2"],
    before: [],
    refused: "--pull: there is no member 'membr2' (did you mean 'member2'?); this fleet has member1, member2, member3",
  },
  "a member that the hub reaches stays one until it leaves": {
    pull: ["member1", "member2"],
    before: [joined("member1", "Pull"), joined("member2", "Push")],
    refused:
      "--pull: the hub has reached member2 since it joined in this data directory; start without --pull and 'flotilla unjoin member2' first, or choose another directory with --data DIR",
  },
};
for (const [behaviour, { pull, before, refused }] of Object.entries(cases)) {
  test(behaviour, () => {
    const thrown = thrownBy(() => checkPulling(pull, members, before));

    expect(thrown).toEqual(refused === undefined ? undefined : new UsageError(refused));
  });
}
