import { expect, test } from "vitest";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { ResourceQuota } from "@flotilla/apimachinery/facts/core-v1.ts";
import { addAmounts, exceeding, readAmounts, sameAmounts, subtractAmounts, writeAmounts } from "./amounts.ts";
import { quotaEvaluatorOf, quotaMatches, resourceOfCount } from "./evaluator.ts";

const usageOf = (resource: string, object: object, group = ""): Record<string, string> =>
  writeAmounts(quotaEvaluatorOf(group, resource)?.usage(object as DeepReadonly<JsonObject>, 0) ?? new Map());
const makePod = (spec: object, rest: object = {}): object => ({
  metadata: { name: "p" },
  spec: { containers: [], ...spec },
  ...rest,
});
const container = (cpu: string, rest: object = {}): object => ({
  name: "c",
  resources: { requests: { cpu }, limits: { cpu } },
  ...rest,
});

const pods: Record<string, [spec: object, cpu: string]> = {
  "adds up containers": [{ containers: [container("1"), container("500m")] }, "1500m"],
  "uses the largest init container when it exceeds the sum": [
    { containers: [container("1")], initContainers: [container("3"), container("2")] },
    "3",
  ],
  "adds sidecars to the containers": [
    { containers: [container("1")], initContainers: [container("500m", { restartPolicy: "Always" })] },
    "1500m",
  ],
  "adds earlier sidecars to init containers": [
    { containers: [container("1")], initContainers: [container("1", { restartPolicy: "Always" }), container("2")] },
    "3",
  ],
  "pod-level requests win": [{ containers: [container("1")], resources: { requests: { cpu: "4" } } }, "4"],
  "adds the overhead": [{ containers: [container("1")], overhead: { cpu: "250m" } }, "1250m"],
};
for (const [behaviour, [spec, cpu]] of Object.entries(pods)) {
  test(behaviour, () => {
    expect(usageOf("pods", makePod(spec))).toMatchObject({ "count/pods": "1", pods: "1", cpu, "requests.cpu": cpu });
  });
}

test("a finished pod counts only as an object", () => {
  expect(usageOf("pods", makePod({ containers: [container("1")] }, { status: { phase: "Succeeded" } }))).toEqual({
    "count/pods": "1",
  });
});

test("a service counts its node ports and its load balancer", () => {
  const ports = [{ port: 1, nodePort: 30000 }, { port: 2 }];

  expect(usageOf("services", { spec: { type: "NodePort", ports } })).toEqual({
    "count/services": "1",
    services: "1",
    "services.nodeports": "2",
    "services.loadbalancers": "0",
  });
  expect(
    usageOf("services", { spec: { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports } }),
  ).toMatchObject({ "services.nodeports": "1", "services.loadbalancers": "1" });
});

test("a claim also counts for its storage class", () => {
  expect(
    usageOf("persistentvolumeclaims", {
      metadata: {},
      spec: { storageClassName: "gold", resources: { requests: { storage: "1Gi" } } },
    }),
  ).toEqual({
    "count/persistentvolumeclaims": "1",
    persistentvolumeclaims: "1",
    "requests.storage": "1Gi",
    "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
    "gold.storageclass.storage.k8s.io/requests.storage": "1Gi",
  });
});

test("other kinds are counted by name, a few under a legacy name as well", () => {
  expect(usageOf("widgets", {}, "example.com")).toEqual({ "count/widgets.example.com": "1" });
  expect(usageOf("secrets", {})).toEqual({ "count/secrets": "1", secrets: "1" });
  expect(resourceOfCount("count/jobs.batch")).toEqual({ group: "batch", resource: "jobs" });
  expect(quotaEvaluatorOf("", "events")).toBeUndefined();
});

test("every container must set the resources that a quota counts", () => {
  const pod = makePod({ containers: [container("1"), { name: "silent" }] }) as DeepReadonly<JsonObject>;

  expect(quotaEvaluatorOf("", "pods")?.problem?.(pod, new Set(["requests.cpu", "limits.memory", "pods"]))).toBe(
    "must specify limits.memory for: c,silent; requests.cpu for: silent",
  );
});

const scopes: Record<string, [spec: ResourceQuota["spec"], pod: object, want: boolean]> = {
  "a pod without requests is in scope BestEffort": [{ scopes: ["BestEffort"] }, {}, true],
  "a pod with requests is not in scope BestEffort": [
    { scopes: ["BestEffort"] },
    { containers: [container("1")] },
    false,
  ],
  "a pod with a deadline is in scope Terminating": [{ scopes: ["Terminating"] }, { activeDeadlineSeconds: 5 }, true],
  "a pod matches only when it is in every scope": [
    { scopes: ["Terminating", "NotBestEffort"] },
    { activeDeadlineSeconds: 5 },
    false,
  ],
  "a scope selector matches the priority class by name": [
    { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }] } },
    { priorityClassName: "high" },
    true,
  ],
  "a pod without a priority class does not match In": [
    { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "NotIn", values: ["high"] }] } },
    {},
    true,
  ],
};
for (const [behaviour, [spec, pod, want]] of Object.entries(scopes)) {
  test(behaviour, () => {
    const evaluator = quotaEvaluatorOf("", "pods");
    const quota: ResourceQuota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec };

    expect(evaluator && quotaMatches(quota, ["pods"], evaluator, makePod(pod) as DeepReadonly<JsonObject>)).toBe(want);
  });
}

test("amounts are exact and never fall below zero", () => {
  const one = readAmounts({ cpu: "100m", memory: "1Gi" });
  const sum = addAmounts(one, readAmounts({ cpu: "0.2" }));

  expect(writeAmounts(sum)).toEqual({ cpu: "300m", memory: "1Gi" });
  expect(sameAmounts(subtractAmounts(sum, one), readAmounts({ cpu: "200m", memory: "0" }))).toBe(true);
  expect(writeAmounts(subtractAmounts(one, sum))).toEqual({ cpu: "0", memory: "0" });
  expect([...exceeding(sum, readAmounts({ cpu: "299m" }))]).toEqual(["cpu"]);
});
