import { expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Cluster } from "@flotilla/karmada";
import { Pod } from "@flotilla/kubernetes";
import { commandLineOf } from "./actions.ts";
import type { DemoAction } from "./actions.ts";
import { plannedShares } from "./placement-steps.ts";

const web = { kind: CloneSet, namespace: "shop", name: "web" };
const cases: Record<string, { action: DemoAction; line: string }> = {
  "a file is applied on the hub": { action: { do: "apply", file: "shop.yaml" }, line: "kubectl apply -f shop.yaml" },
  "a patch is quoted for the shell": {
    action: { do: "patch", target: web, patch: [{ op: "replace", path: "/spec/replicas", value: 3 }] },
    line: `kubectl patch cloneset web -n shop --type=json '-p=[{"op":"replace","path":"/spec/replicas","value":3}]'`,
  },
  "an annotation is set": {
    action: { do: "annotate", target: { kind: Cluster, name: "member2" }, annotation: "a.dev/b", value: "c" },
    line: "kubectl annotate cluster member2 a.dev/b=c",
  },
  "an annotation is removed": {
    action: { do: "annotate", target: { kind: Cluster, name: "member2" }, annotation: "a.dev/b" },
    line: "kubectl annotate cluster member2 a.dev/b-",
  },
  "a member is queried with its own kubeconfig": {
    action: { do: "get", cluster: "member2", kind: Pod, namespace: "shop", selector: "app=web" },
    line: "kubectl --kubeconfig member2.kubeconfig get pods -n shop -l app=web",
  },
};
for (const [behaviour, { action, line }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(commandLineOf(action)).toBe(line);
  });
}

test("a plan reports the replicas per member, new or changed", () => {
  const change = (cluster: string, action: string, kind: string, after?: number) => ({
    cluster,
    action,
    object: { kind },
    fields: after === undefined ? [] : [{ path: "spec.replicas", after }],
  });

  const shares = plannedShares({
    changes: [
      change("member3", "update", "CloneSet", 3),
      change("member1", "create", "CloneSet", 5),
      change("member2", "delete", "CloneSet"),
      change("member1", "create", "Namespace"),
    ],
  });

  expect(shares).toEqual({ member1: 5, member3: 3 });
});
