import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { exceededRelease, renderExceeded } from "./release-limit.ts";

const made = (image: string, spec: object): KubernetesObject =>
  ({
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "CloneSet",
    metadata: { name: "web" },
    spec: { replicas: 5, template: { spec: { containers: [{ name: "web", image }] } }, ...spec },
  }) as KubernetesObject;
const before = made("web:1", {});

describe("a copy with another pod template", () => {
  const cases: Record<string, { asked: object; kept: object; want: string | undefined }> = {
    "exceeds when the member's partition keeps fewer pods back": {
      asked: { updateStrategy: { partition: 4 } },
      kept: { updateStrategy: { partition: 0 } },
      want: "spec.updateStrategy.partition: 5 instead of 1",
    },
    "exceeds when the member has no partition, also in v1beta1": {
      asked: { updateStrategy: { rollingUpdate: { partition: "60%" } } },
      kept: { updateStrategy: {} },
      want: "spec.updateStrategy.rollingUpdate.partition: 5 instead of 2",
    },
    "does not exceed when the member keeps more pods back": {
      asked: { updateStrategy: { partition: 2 } },
      kept: { updateStrategy: { partition: 3 } },
      want: undefined,
    },
    "does not exceed when it keeps nothing back": {
      asked: { replicas: 3, updateStrategy: { partition: 0 } },
      kept: { replicas: 8, updateStrategy: { partition: 0 } },
      want: undefined,
    },
    "exceeds when the member has more pods than the partition was made for": {
      asked: { replicas: 3, updateStrategy: { partition: 2 } },
      kept: { replicas: 8, updateStrategy: { partition: 2 } },
      want: "spec.replicas: 6 instead of 1",
    },
    "exceeds when the member is not paused": {
      asked: { updateStrategy: { paused: true } },
      kept: { updateStrategy: { paused: false } },
      want: "spec.updateStrategy.paused: 5 instead of 0",
    },
    "exceeds when the member updates pods that it should only replace when they are deleted": {
      asked: { updateStrategy: { type: "OnDelete" } },
      kept: { updateStrategy: { type: "RollingUpdate" } },
      want: "spec.updateStrategy.type: 5 instead of 0",
    },
    "exceeds when the subsets of the member keep fewer pods back": {
      asked: { updateStrategy: { manualUpdate: { partitions: { a: 2, b: 2 } } } },
      kept: { updateStrategy: { manualUpdate: { partitions: { a: 2, b: 0 } } } },
      want: "spec.updateStrategy.manualUpdate.partitions: 3 instead of 1",
    },
    "does not exceed by a budget alone": {
      asked: { updateStrategy: { partition: 2, maxUnavailable: 1 } },
      kept: { updateStrategy: { partition: 2, maxUnavailable: 5 } },
      want: undefined,
    },
  };
  test.each(Object.entries(cases))("%s", (_name, { asked, kept, want }) => {
    const found = exceededRelease(made("web:2", asked), made("web:2", kept), before);

    expect(found && `${found.path}: ${found.pods} instead of ${found.askedPods}`).toBe(want);
  });

  test("is compared by percentage where copies do not say how many pods there are", () => {
    const daemonSet = (partition: unknown): KubernetesObject =>
      made("web:2", { replicas: undefined, updateStrategy: { rollingUpdate: { partition } } });

    expect(exceededRelease(daemonSet("90%"), daemonSet("10%"), before)).toMatchObject({ pods: 90, askedPods: 10 });
  });
});

test("a copy with the member's pod template exceeds nothing", () => {
  const asked = made("web:1", { updateStrategy: { partition: 4 } });

  expect(exceededRelease(asked, made("web:1", { updateStrategy: { partition: 0 } }), before)).toBeUndefined();
  expect(exceededRelease(asked, asked, before)).toBeUndefined();
});

test("the message has the rule, the field, both values and both numbers", () => {
  const exceeded = { path: "spec.updateStrategy.partition", asked: 4, kept: undefined, pods: 5, askedPods: 1 };

  expect(renderExceeded(exceeded, "webhook rules/kruise")).toBe(
    "the release is not sent: the Retain rule of webhook rules/kruise keeps spec.updateStrategy.partition of " +
      "the member (unset; the hub asks for 4), so that 5 pods would get it instead of 1",
  );
});
