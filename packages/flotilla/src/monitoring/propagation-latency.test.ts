import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import { createFakeClock, MetricsText, defined } from "@flotilla/base";
import { createPropagationLatency } from "./propagation-latency.ts";

const CREATED = "1970-01-01T00:00:00Z";
const CLAIM = { "propagationpolicy.karmada.io/permanent-id": "p1" };

const template = (generation: number, labels?: Record<string, string>): KubernetesObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop", uid: "u1", generation, creationTimestamp: CREATED, labels },
});
const copy = (generation: number): KubernetesObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    name: "web",
    namespace: "shop",
    annotations: {
      "resourcetemplate.karmada.io/uid": "u1",
      "resourcetemplate.karmada.io/generation": String(generation),
    },
  },
});
const work = (cluster: string, generation: number, status?: object): Work =>
  ({
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { name: "web", namespace: `karmada-es-${cluster}`, generation },
    spec: { workload: { manifests: [copy(generation)] } },
    ...defined({ status: status ? { manifestStatuses: [{ identifier: {}, status }] } : undefined }),
  }) as unknown as Work;

function setUp({ targets = ["paris", "oslo"], policyCreated = CREATED } = {}) {
  const clock = createFakeClock(0);
  const latency = createPropagationLatency({
    clock,
    targetsOf: () => targets.map((name) => ({ name })),
    policyCreated: () => policyCreated,
  });
  const event = (object: KubernetesObject, old?: KubernetesObject) => ({ cluster: "hub", object, old, deleted: false });
  return {
    clock,
    latency,
    changed: (object: KubernetesObject, old?: KubernetesObject) => latency.changed(event(object, old)),
    worked: (object: Work, old?: Work) => latency.worked({ cluster: "hub", object, old, deleted: false }),
    sums: (what: "applied" | "reported") => {
      const text = new MetricsText();
      latency.write(text);
      const lines = text.finish().split("\n");
      return Object.fromEntries(
        lines.flatMap((line) => {
          const [, cluster, seconds] =
            new RegExp(`^flotilla_propagation_${what}_seconds_sum\\{member_cluster="(\\w+)"\\} (\\S+)$`).exec(line) ??
            [];
          return cluster ? [[cluster, Number(seconds)]] : [];
        }),
      );
    },
  };
}

test("the latency of a new template is measured per member, from the time the hub stored it", () => {
  const { clock, latency, changed, sums } = setUp();
  changed(template(1, CLAIM));

  clock.advance(100);
  latency.delivered("paris", copy(1));
  clock.advance(2_900);
  latency.delivered("oslo", copy(1));

  expect(sums("applied")).toEqual({ paris: 0.1, oslo: 3 });
});

test("a claim is part of the change, although it may increase the generation", () => {
  const { clock, latency, changed, sums } = setUp();
  changed(template(1));
  clock.advance(50);
  changed(template(2, CLAIM), template(1));

  clock.advance(50);
  latency.delivered("paris", copy(2));

  expect(sums("applied")).toEqual({ paris: 0.1 });
});

test("a template claimed by a policy created later is measured from the claim", () => {
  const { clock, latency, changed, sums } = setUp({ policyCreated: "1970-01-01T01:00:00Z" });
  changed(template(1));
  clock.advance(3_600_500);
  changed(template(2, CLAIM), template(1));

  clock.advance(200);
  latency.delivered("paris", copy(2));

  expect(sums("applied")).toEqual({ paris: 0.2 });
});

test("copies of an older generation, second deliveries, and moves after full delivery are not measured", () => {
  const { clock, latency, changed, sums } = setUp({ targets: ["paris"] });
  changed(template(2, CLAIM));
  clock.advance(1_000);

  latency.delivered("paris", copy(1));
  latency.delivered("paris", copy(2));
  clock.advance(60_000);
  latency.delivered("paris", copy(2));
  latency.delivered("oslo", copy(2));

  expect(sums("applied")).toEqual({ paris: 1 });
});

test("templates found at a restart are not measured", () => {
  const { clock, latency, changed, sums } = setUp();
  clock.advance(60_000);

  changed(template(1, CLAIM));
  latency.delivered("paris", copy(1));

  expect(sums("applied")).toEqual({});
});

test("report latency ends with the member's status for the template's generation", () => {
  const { clock, changed, worked, sums } = setUp();
  changed(template(1, CLAIM));
  changed(template(2, CLAIM), template(1, CLAIM));
  clock.advance(500);

  worked(work("paris", 2, { resourceTemplateGeneration: 1 }));
  clock.advance(500);
  worked(work("paris", 2, { resourceTemplateGeneration: 2 }));
  clock.advance(500);
  worked(work("paris", 2, { resourceTemplateGeneration: 2, readyReplicas: 1 }));

  expect(sums("reported")).toEqual({ paris: 1 });
});

test("for a kind that does not report the template's generation, report latency ends with the first new status", () => {
  const { clock, changed, worked, sums } = setUp();
  changed(template(2, CLAIM));
  const before = work("paris", 2, { phase: "Old" });
  worked(before);
  clock.advance(700);

  worked(work("paris", 2, { phase: "New" }), before);

  expect(sums("reported")).toEqual({ paris: 0.7 });
});
