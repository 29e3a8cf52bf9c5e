import { describe, expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import type { Explanation } from "./explanation.ts";
import { findProblems, type ProblemInput } from "./find-problems.ts";

const NOW_MS = Date.UTC(2024, 4, 1, 12);
const resource = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const policy = {
  kind: "PropagationPolicy",
  namespace: "shop",
  name: "all",
  priority: 0,
  selectsBy: "name",
  reason: "",
} as const;
const member = (change: Partial<Explanation["members"][number]>): Explanation["members"][number] => ({
  cluster: "oslo",
  state: "target",
  divided: [],
  overridden: [],
  overridePolicies: [],
  applied: true,
  ...change,
});
const ready = (status: "True" | "False"): Cluster =>
  ({
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "oslo" },
    spec: {},
    status: { conditions: [{ type: "Ready", status, reason: "r", message: "no answer", lastTransitionTime: "" }] },
  }) as unknown as Cluster;
const decision = {
  source: "recorded",
  at: "",
  kept: [],
  rejected: [{ by: "TaintToleration", reason: "tainted", count: 1, clusters: ["oslo"] }],
  message: "0/1 clusters are available.",
} as const;

const cases: Record<
  string,
  { explanation?: Partial<Explanation>; cluster?: Cluster | undefined; found?: string[]; want: string[] }
> = {
  "reports no problem when everything is applied": {
    explanation: { policy, members: [member({ health: "Healthy" })] },
    want: [],
  },
  "reports a copy that has not become healthy for longer than a minute": {
    explanation: {
      policy,
      members: [
        member({
          health: "Healthy",
          unhealthy: "1 of 2 pods is not ready",
          unhealthySince: "2024-05-01T11:58:00Z",
        }),
      ],
    },
    want: ["it is not healthy on oslo for 2m: 1 of 2 pods is not ready"],
  },
  "reports an override that changes nothing": {
    explanation: {
      policy,
      members: [
        member({ health: "Healthy", blindOverrides: ["override policy eu has no effect: it finds none; set it"] }),
      ],
    },
    want: ["oslo: override policy eu has no effect: it finds none"],
  },
  "leaves a copy a minute to become healthy": {
    explanation: {
      policy,
      members: [
        member({
          health: "Unhealthy",
          unhealthy: "1 of 2 pods is not ready",
          unhealthySince: "2024-05-01T11:59:30Z",
        }),
      ],
    },
    want: [],
  },
  "reports pods that a quota forbids at once": {
    explanation: {
      policy,
      members: [
        member({
          health: "Unhealthy",
          unhealthy: "2 of 2 pods are not ready: FailedCreate: exceeded quota",
          unhealthySince: "2024-05-01T11:59:55Z",
          unhealthyReason: "QuotaForbidsPods",
        }),
      ],
    },
    want: ["it is not healthy on oslo for 5s: 2 of 2 pods are not ready: FailedCreate: exceeded quota"],
  },
  "reports a rule that failed at once": {
    explanation: {
      policy,
      members: [
        member({
          health: "Unknown",
          unhealthy: "line 1: nil",
          unhealthySince: "2024-05-01T12:00:00Z",
          failedRule: "InterpretHealth",
        }),
      ],
    },
    want: ["its health on oslo is unknown, because the rule InterpretHealth failed: line 1: nil"],
  },
  "reports a rule that fails on several members once": {
    explanation: {
      policy,
      members: ["oslo", "paris"].map((cluster) =>
        member({
          cluster,
          health: "Unknown",
          unhealthy: "rules of games: InterpretHealth: line 1: nil",
          unhealthySince: "2024-05-01T12:00:00Z",
          failedRule: "InterpretHealth",
          failedRules: ["rules of games: InterpretHealth: line 1: nil", "rules of games: Retain: line 2: nil"],
        }),
      ),
    },
    want: [
      "its health on oslo, paris is unknown, because the rule InterpretHealth failed: rules of games: InterpretHealth: line 1: nil",
      "rules of games: Retain: line 2: nil",
    ],
  },
  "reports a missing policy first": { want: ["no policy selects it, so it is not propagated"] },
  "reports an unschedulable resource once, with a fix for the exclusion": {
    explanation: { policy, decision },
    found: ["0/1 clusters are available; running copies stay where they are"],
    want: ["scheduling failed: 0/1 clusters are available."],
  },
  "reports problems that the planners found": {
    explanation: { policy },
    found: ["policy all is waiting for OverridePolicy gold"],
    want: ["policy all is waiting for OverridePolicy gold"],
  },
  "reports a member that is not ready": {
    explanation: { policy, members: [member({})] },
    cluster: ready("False"),
    want: ["oslo is not ready: no answer"],
  },
  "reports a member that was removed": {
    explanation: { policy, members: [member({})] },
    cluster: undefined,
    want: ["oslo is not a member of the fleet"],
  },
  "reports the member's own rejection message": {
    explanation: { policy, members: [member({ applied: false, message: "quota exceeded" })] },
    want: ["oslo rejected it: quota exceeded"],
  },
  "reports a webhook on the member that does not respond, and advises to start it": {
    explanation: {
      policy,
      members: [
        member({
          applied: false,
          message: 'Internal error occurred: failed calling webhook "dead.example.com": ECONNREFUSED',
          webhookConfiguration: "ValidatingWebhookConfiguration dead",
        }),
      ],
    },
    want: [
      "oslo could not check it, because webhook dead.example.com of ValidatingWebhookConfiguration dead does " +
        'not respond there: Internal error occurred: failed calling webhook "dead.example.com": ECONNREFUSED',
    ],
  },
  "reports a member that is not ready and unreachable once": {
    explanation: { policy, members: [member({ applied: false, reason: "MemberUnreachable", message: "no route" })] },
    cluster: ready("False"),
    want: ["oslo is not ready: no answer"],
  },
  "reports an unhealthy copy": {
    explanation: { policy, members: [member({ health: "Unhealthy", unhealthy: "its rule says so" })] },
    want: ["it is not healthy on oslo: its rule says so"],
  },
  "reports drift that is not repaired, but not drift that was repaired": {
    explanation: {
      policy,
      members: [
        member({ drift: "ReportOnly: spec.replicas is 9" }),
        member({ drift: "Repaired: spec.replicas was 9" }),
      ],
    },
    want: ["it was changed on oslo: spec.replicas is 9"],
  },
};
for (const [behaviour, { explanation = {}, found = [], want, ...given }] of Object.entries(cases)) {
  test(behaviour, () => {
    const cluster = "cluster" in given ? given.cluster : ready("True");
    const input: ProblemInput = {
      explanation: { resource, otherPolicies: [], members: [], ...explanation },
      binding: undefined,
      clusterOf: () => cluster,
      found,
      isUncopied: false,
      nowMs: NOW_MS,
    };

    const problems = findProblems(input);

    expect(problems.map(({ what }) => what)).toEqual(want);
    expect(problems.every((problem) => problem.try !== "")).toBe(true);
  });
}

describe("an object whose policy was deleted", () => {
  const adviceFor = (apiVersion: string, kind: string, name: string): string[] =>
    findProblems({
      explanation: { resource: { apiVersion, kind, name }, otherPolicies: [], members: [], decision },
      binding: {
        kind: "ClusterResourceBinding",
        metadata: { name: "x" },
        spec: { resource: { apiVersion, kind, name } },
      } as unknown as ProblemInput["binding"],
      clusterOf: () => ready("True"),
      found: ["0/1 clusters are available; running copies stay where they are"],
      isUncopied: false,
      nowMs: NOW_MS,
    }).map((problem) => `${problem.what} -> ${problem.try}`);

  test("is one problem, and the command for its binding comes first", () => {
    expect(adviceFor("rbac.authorization.k8s.io/v1", "ClusterRole", "reader")).toEqual([
      "no policy selects it any longer; its binding remains, and has no cluster -> run 'kubectl delete " +
        "clusterresourcebinding x'; delete the object, if it is no longer needed; or apply a " +
        "ClusterPropagationPolicy whose resourceSelectors name rbac.authorization.k8s.io/v1 ClusterRole reader",
    ]);
  });

  test("is never to be deleted if it is a Namespace or a CustomResourceDefinition", () => {
    const advice = [
      ...adviceFor("v1", "Namespace", "rel"),
      ...adviceFor("apiextensions.k8s.io/v1", "CustomResourceDefinition", "lamps.example.com"),
    ];

    expect(advice).toHaveLength(2);
    for (const text of advice) {
      expect(text).toContain("run 'kubectl delete clusterresourcebinding x'; or apply");
      expect(text).not.toContain("delete the object");
    }
  });
});

test("suggests tolerations when a taint excluded the clusters", () => {
  const [problem] = findProblems({
    explanation: { resource, policy, otherPolicies: [], members: [], decision },
    binding: undefined,
    clusterOf: () => undefined,
    found: [],
    isUncopied: false,
    nowMs: NOW_MS,
  });

  expect(problem?.try).toContain("placement.clusterTolerations");
});

test("suggests more capacity when the fitting clusters are too small, even if others were excluded", () => {
  const full = {
    ...decision,
    kept: [{ cluster: "paris", score: 0, available: 3 }],
    message: "Clusters available replicas 3 are not enough to schedule.",
  };

  const [problem] = findProblems({
    explanation: { resource, policy, otherPolicies: [], members: [], decision: full },
    binding: undefined,
    clusterOf: () => undefined,
    found: [],
    isUncopied: false,
    nowMs: NOW_MS,
  });

  expect(problem?.try).toBe("add capacity to the clusters, or add clusters to the policy");
});

test("suggests to raise the quota that rejected a placement", () => {
  const message = "FederatedResourceQuota(shop/team) exceeded for resource cpu: requested sum 9, limit 5.";

  const [problem] = findProblems({
    explanation: { resource, policy, otherPolicies: [], members: [], decision: { ...decision, message } },
    binding: undefined,
    clusterOf: () => undefined,
    found: [],
    isUncopied: false,
    nowMs: NOW_MS,
  });

  expect(problem?.try).toBe(
    "raise cpu in spec.overall of FederatedResourceQuota shop/team, or ask for less: the replicas that are placed stay",
  );
});

describe("suggests a fix that matches the problem", () => {
  const exists = "resource(kind=Deployment, shop/web) already exists in the cluster oslo and is not managed";
  const cases: Record<string, { what: Partial<Explanation["members"][number]>; want: string }> = {
    "reconnect an unreachable member": {
      what: { applied: false, reason: "MemberUnreachable", message: "no route" },
      want: "check that oslo is running and reachable from the hub",
    },
    "join a member again that rejects the hub's token": {
      what: {
        applied: false,
        reason: "MemberUnreachable",
        message: "cluster oslo rejects the hub's token (401); run 'flotilla join oslo --cluster-kubeconfig FILE'",
      },
      want: "run 'flotilla join oslo --cluster-kubeconfig FILE' to issue new credentials",
    },
    "reconnect a member that does not respond": {
      what: { applied: false, reason: "AnswerPending", message: "slow" },
      want: "check that oslo is running and reachable from the hub",
    },
    "take over an object that already existed": {
      what: { applied: false, reason: "AppliedFailed", message: exists },
      want: "conflictResolution: Overwrite",
    },
    "install the CRD of a kind that is not served": {
      what: { applied: false, reason: "KindNotServed", message: "no kind" },
      want: "install the kind's CustomResourceDefinition",
    },
    "correct what the member rejects": {
      what: { applied: false, reason: "AppliedFailed", message: "quota exceeded" },
      want: "correct what the member rejects",
    },
    "inspect an unhealthy copy by its fully qualified name": {
      what: { health: "Unhealthy", unhealthy: "its kind's health rule says Unhealthy" },
      want: "'flotilla describe deployment.apps/web -n shop --clusters oslo'",
    },
  };
  for (const [behaviour, { what, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const problems = findProblems({
        explanation: { resource, policy, otherPolicies: [], members: [member(what)] },
        binding: undefined,
        clusterOf: () => ready("True"),
        found: [],
        isUncopied: false,
        nowMs: NOW_MS,
      });

      expect(problems.map((problem) => problem.try)).toEqual([expect.stringContaining(want)]);
    });
  }
});

test("reports unhealthy pods of a member that rejects an update, beside the rejection", () => {
  const problems = findProblems({
    explanation: {
      resource,
      policy,
      otherPolicies: [],
      members: [
        member({
          applied: false,
          reason: "AppliedFailed",
          message: "quota exceeded",
          unhealthy: "7 of 10 pods are not ready",
          unhealthySince: "2024-05-01T11:00:00Z",
        }),
      ],
    },
    binding: undefined,
    clusterOf: () => ready("True"),
    found: [],
    isUncopied: false,
    nowMs: NOW_MS,
  });

  expect(problems.map(({ what }) => what)).toEqual([
    "oslo rejected it: quota exceeded",
    expect.stringMatching(/^it is not healthy on oslo for .*: 7 of 10 pods are not ready$/),
  ]);
});

test("reports a failing override once, with its clusters", () => {
  const binding = {
    metadata: { name: "web-deployment" },
    spec: { resource },
    status: {
      conditions: [
        {
          type: "Dispatched",
          status: "False",
          reason: "RenderFailed",
          message: "oslo: applying override policy web: nothing there; these members get no new copy",
        },
      ],
    },
  } as unknown as ProblemInput["binding"];
  const found = ["oslo: applying override policy web: nothing there; it keeps its current copy"];

  const problems = findProblems({
    explanation: {
      resource,
      policy,
      otherPolicies: [],
      members: [member({ message: "applying override policy web: nothing there" })],
    },
    binding,
    clusterOf: () => ready("True"),
    found,
    isUncopied: true,
    nowMs: NOW_MS,
  });

  expect(problems.map(({ what }) => what)).toEqual(found);
});

describe("parts of a policy without effect", () => {
  const problemsOf = (spec: object, taints: object[] = []): string[] =>
    findProblems({
      explanation: { resource, policy, otherPolicies: [], decision: undefined, members: [] },
      binding: {
        metadata: { name: "web-deployment" },
        spec: { resource, ...spec },
      } as unknown as ProblemInput["binding"],
      clusterOf: (name) => (name === "oslo" ? { ...ready("True"), spec: { taints } as Cluster["spec"] } : undefined),
      found: [],
      isUncopied: false,
      nowMs: 0,
    }).map(({ what, try: fix }) => `${what} → ${fix}`);
  const clusters = [{ name: "oslo" }];

  test("spread constraints that static weights ignore", () => {
    const placement = {
      spreadConstraints: [{ spreadByField: "cluster", maxGroups: 1 }],
      replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
    };

    expect(problemsOf({ placement })).toEqual([
      "the policy's spread constraints are ignored (at most 1 of cluster), because replicas are divided by " +
        "equal weights; it is in 0 groups of cluster → remove them, or use dynamicWeight: AvailableReplicas or " +
        "replicaDivisionPreference: Aggregated",
    ]);
  });

  test("a cluster that has left", () => {
    expect(problemsOf({ placement: { clusterAffinity: { clusterNames: ["oslo", "rome"] } } })).toEqual([
      "the policy names rome, which is not a member of the fleet → join it, or remove the name from the policy",
    ]);
  });

  test("a failover that waits for a taint", () => {
    const failover = { cluster: { purgeMode: "Gracefully" } };
    const says = (cluster: Cluster): string[] =>
      findProblems({
        explanation: { resource, policy, otherPolicies: [], decision: undefined, members: [] },
        binding: {
          metadata: { name: "web-deployment" },
          spec: { resource, clusters, failover },
        } as unknown as NonNullable<ProblemInput["binding"]>,
        clusterOf: () => cluster,
        found: [],
        isUncopied: false,
        nowMs: 0,
      }).map(({ what }) => what);
    const tainted = {
      ...ready("False"),
      spec: { taints: [{ key: "failed", effect: "NoExecute" }] } as Cluster["spec"],
    };

    expect(says(ready("False"))).toEqual([
      "it stays on oslo: failover.cluster moves it only off a member with a NoExecute taint, and the hub sets none on a member that is not ready",
    ]);
    expect(says(tainted)).toEqual([]);
    expect(says(ready("True"))).toEqual([]);
  });

  test("a NoExecute taint that moves nothing", () => {
    const taint = { key: "maintenance", effect: "NoExecute" };

    expect(problemsOf({ clusters }, [taint])).toEqual([
      "oslo has the taint maintenance:NoExecute, and it stays there, because the policy has no " +
        "failover.cluster → run 'flotilla drain oslo', or add failover.cluster to the policy",
    ]);
    expect(problemsOf({ clusters, failover: { cluster: {} } }, [taint])).toEqual([]);
    expect(problemsOf({ clusters, placement: { clusterTolerations: [{ operator: "Exists" }] } }, [taint])).toEqual([]);
    expect(problemsOf({ clusters }, [{ key: "maintenance", effect: "NoSchedule" }])).toEqual([]);
  });
});

const errors: Record<string, { error: string; want: string }> = {
  "the error of a rule names an object too, and the rule is what to correct": {
    error: "running InterpretReplica of ResourceInterpreterCustomization mine on CloneSet shop/web: line 2: nil",
    want: "correct the rule in ResourceInterpreterCustomization mine; 'flotilla interpret' runs it on an object",
  },
  "the error of a webhook names an object too, and the webhook is what to correct": {
    error: "calling webhook hooks/first for InterpretReplica of CloneSet shop/web: no response",
    want: "correct the webhook hooks/first; the hub then continues automatically",
  },
  "the error of an override policy names it": {
    error: "applying override policy shop/paint: /spec/colour does not exist",
    want: "correct the override policy shop/paint; the hub then continues automatically",
  },
  "any other error is about the template": {
    error: "Deployment shop/web has no replicas",
    want: "correct the template; the hub then continues automatically",
  },
};
test.each(Object.entries(errors))("%s", (_behaviour, { error, want }) => {
  const [problem] = findProblems({
    explanation: { resource, policy, otherPolicies: [], members: [] },
    binding: undefined,
    clusterOf: () => ready("True"),
    found: [error],
    isUncopied: false,
    nowMs: NOW_MS,
  });

  expect(problem).toEqual({ what: error, try: want });
});

describe("a field that a Retain rule leaves to the members", () => {
  const paused = member({
    onMember: [{ path: "spec.paused", before: false, after: true }],
    onMemberBy: "rules of games",
  });
  const problemsWhere = (memberDecides: "True" | "False"): string[] =>
    findProblems({
      explanation: { resource, policy, otherPolicies: [], decision: undefined, members: [paused] },
      binding: {
        spec: { resource },
        status: { conditions: [{ type: "MemberDecides", status: memberDecides }] },
      } as unknown as ProblemInput["binding"],
      clusterOf: () => ready("True"),
      found: [],
      isUncopied: false,
      nowMs: NOW_MS,
    }).map(({ what }) => what);

  test("is listed where the rule keeps releases from them", () => {
    expect(problemsWhere("True")).toEqual([
      "the Retain rule of rules of games keeps values of members: oslo: spec.paused is true instead of false",
    ]);
  });

  test("is not listed where it keeps none, such as a pause of the whole workload", () => {
    expect(problemsWhere("False")).toEqual([]);
  });
});
