import { describe, expect, test } from "vitest";
import type { Cluster } from "../api/index.ts";
import type { Explanation } from "./explanation.ts";
import { findProblems, type ProblemInput } from "./find-problems.ts";

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
  refused: [{ by: "TaintToleration", reason: "tainted", count: 1, clusters: ["oslo"] }],
  message: "0/1 clusters are available.",
} as const;

const cases: Record<
  string,
  { explanation?: Partial<Explanation>; cluster?: Cluster | undefined; found?: string[]; want: string[] }
> = {
  "nothing is wrong where everything is applied": {
    explanation: { policy, members: [member({ health: "Healthy" })] },
    want: [],
  },
  "no policy is the first thing to say": { want: ["no policy selects it, so it stays on the hub"] },
  "what cannot be scheduled is told once, with what helps against the refusal": {
    explanation: { policy, decision },
    found: ["0/1 clusters are available; what runs stays where it is"],
    want: ["it cannot be scheduled: 0/1 clusters are available."],
  },
  "what the planners found is told": {
    explanation: { policy },
    found: ["policy all is waiting for OverridePolicy gold"],
    want: ["policy all is waiting for OverridePolicy gold"],
  },
  "a member that is not ready is told": {
    explanation: { policy, members: [member({})] },
    cluster: ready("False"),
    want: ["oslo is not ready: no answer"],
  },
  "a member that is gone is told": {
    explanation: { policy, members: [member({})] },
    cluster: undefined,
    want: ["oslo is not a member of the fleet"],
  },
  "a refusal of the member is told with its words": {
    explanation: { policy, members: [member({ applied: false, message: "quota exceeded" })] },
    want: ["oslo did not take it: quota exceeded"],
  },
  "a member that is not ready and was not reached is told once": {
    explanation: { policy, members: [member({ applied: false, reason: "MemberUnreachable", message: "no route" })] },
    cluster: ready("False"),
    want: ["oslo is not ready: no answer"],
  },
  "an unhealthy copy is told": {
    explanation: { policy, members: [member({ health: "Unhealthy" })] },
    want: ["it is not healthy on oslo"],
  },
  "drift that nobody repairs is told, and drift that was repaired is not": {
    explanation: {
      policy,
      members: [
        member({ drift: "ReportOnly: spec.replicas is 9" }),
        member({ drift: "Repaired: spec.replicas was 9" }),
      ],
    },
    want: ["somebody changed it on oslo: spec.replicas is 9"],
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
    };

    const problems = findProblems(input);

    expect(problems.map(({ what }) => what)).toEqual(want);
    expect(problems.every((problem) => problem.try !== "")).toBe(true);
  });
}

test("a refusal by a taint is answered with tolerations", () => {
  const [problem] = findProblems({
    explanation: { resource, policy, otherPolicies: [], members: [], decision },
    binding: undefined,
    clusterOf: () => undefined,
    found: [],
    isUncopied: false,
  });

  expect(problem?.try).toContain("placement.clusterTolerations");
});

test("too little room on the clusters that fit is answered with room, whoever else was refused", () => {
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
  });

  expect(problem?.try).toBe("give the clusters more room, or the policy more clusters");
});

describe("what to try follows from what is wrong", () => {
  const exists = "resource(kind=Deployment, shop/web) already exists in the cluster oslo and is not managed";
  const cases: Record<string, { what: Partial<Explanation["members"][number]>; want: string }> = {
    "a member that is away is brought back": {
      what: { applied: false, reason: "MemberUnreachable", message: "no route" },
      want: "see that oslo runs and that the hub can reach it",
    },
    "a member that does not answer is brought back": {
      what: { applied: false, reason: "AnswerPending", message: "slow" },
      want: "see that oslo runs and that the hub can reach it",
    },
    "an object that was there before is taken over": {
      what: { applied: false, reason: "AppliedFailed", message: exists },
      want: "conflictResolution: Overwrite",
    },
    "a kind that is not served is installed": {
      what: { applied: false, reason: "KindNotServed", message: "no kind" },
      want: "install the kind's CustomResourceDefinition",
    },
    "what the member refuses is corrected": {
      what: { applied: false, reason: "AppliedFailed", message: "quota exceeded" },
      want: "correct what the member refuses",
    },
    "an unhealthy copy is looked at, by its full name": {
      what: { health: "Unhealthy" },
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
      });

      expect(problems.map((problem) => problem.try)).toEqual([expect.stringContaining(want)]);
    });
  }
});

test("an override that cannot be applied is told once, by cluster", () => {
  const binding = {
    metadata: { name: "web-deployment" },
    spec: {},
    status: {
      conditions: [
        {
          type: "Dispatched",
          status: "False",
          reason: "RenderFailed",
          message: "oslo: applying override policy web: nothing there; these members keep what they have",
        },
      ],
    },
  } as unknown as ProblemInput["binding"];
  const found = ["oslo: applying override policy web: nothing there; it keeps what it has"];

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
  });

  expect(problems.map(({ what }) => what)).toEqual(found);
});
