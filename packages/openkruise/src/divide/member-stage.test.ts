import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { heldRollout } from "./held-rollout.ts";
import {
  formatStage,
  KEPT_TEMPLATE,
  parseStage,
  invertStage,
  takeKeptTemplate,
  withKeptTemplate,
} from "./member-stage.ts";
import { reflectRollout } from "./reflect-rollout.ts";

const DIGEST = "9f86d081884c7d65";
const copyWith = (stage: string, template: object = { spec: "rendered" }): KubernetesObject =>
  ({
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    metadata: { name: "web", annotations: { "flotilla.dev/rollout-stage": stage } },
    spec: { replicas: 3, template },
  }) as KubernetesObject;

describe("a member's stage", () => {
  test.each([
    `${DIGEST}/50%@2/3`,
    `${DIGEST}/7@0/3^2`,
    `${DIGEST}/7@1/3-`,
    `${DIGEST}/0@1/3^3-`,
    `${DIGEST}/9@0/4^3-1+2=1`,
    `${DIGEST}/9@0/4^3-0=3`,
  ])("%s is parsed and formatted back unchanged", (text) => {
    const stage = parseStage(text);

    expect(stage && formatStage(stage)).toBe(text);
  });

  test.each([undefined, 7, "", `${DIGEST}/5`, `${DIGEST}/5@x/3`, `short/5@1/3`, `${DIGEST}/5@1/3~`])(
    "%s is not a stage",
    (text) => {
      expect(parseStage(text)).toBeUndefined();
    },
  );

  test("is inverted when the template before the release becomes the release again", () => {
    expect(
      invertStage({ digest: DIGEST, partition: 5, updated: 1, replicas: 3, isBackward: false }, "0000000000000000"),
    ).toMatchObject({ digest: "0000000000000000", updated: 2, isBackward: true });
  });
});

describe("the template before a release", () => {
  const kept = { digest: "0000000000000000", template: { spec: "before" } };

  test("is kept beside a forward copy", () => {
    const { object, kept: text } = takeKeptTemplate(withKeptTemplate(copyWith(`${DIGEST}/7@1/3`), kept));

    expect(object).toEqual(copyWith(`${DIGEST}/7@1/3`));
    expect(text).toBe(JSON.stringify(kept));
  });

  test("is the template in a backward copy, with the overrides of that time", () => {
    expect(takeKeptTemplate(withKeptTemplate(copyWith(`${DIGEST}/7@1/3-`), kept)).object).toMatchObject({
      spec: { replicas: 3, template: { spec: "before" } },
    });
  });

  test("lent by another member gets this member's overrides", () => {
    const { object, kept: text } = takeKeptTemplate(
      withKeptTemplate(copyWith(`${DIGEST}/7@0/3-`), { ...kept, isLent: true }),
    );

    expect(object).toMatchObject({ spec: { template: { spec: "rendered" } } });
    expect(JSON.parse(text ?? "")).toEqual({ digest: "0000000000000000", template: { spec: "rendered" } });
  });

  test("is ignored if it is corrupted", () => {
    const broken = {
      ...copyWith(`${DIGEST}/7@1/3-`),
      metadata: {
        name: "web",
        annotations: { "flotilla.dev/rollout-stage": `${DIGEST}/7@1/3-`, [KEPT_TEMPLATE]: "{" },
      },
    };

    expect(takeKeptTemplate(broken).object).toMatchObject({ spec: { template: { spec: "rendered" } } });
  });
});

describe("a member's report", () => {
  const status = {
    replicas: 3,
    readyReplicas: 3,
    availableReplicas: 2,
    updatedReplicas: 2,
    updatedReadyReplicas: 2,
    updatedAvailableReplicas: 1,
    expectedUpdatedReplicas: 2,
    currentRevision: "web-2",
    updateRevision: "web-1",
  };

  test("is kept, with its stage, for a forward copy", () => {
    expect(reflectRollout(copyWith(`${DIGEST}/7@2/3`), status)).toEqual({ ...status, rolloutStage: `${DIGEST}/7@2/3` });
    expect(reflectRollout(copyWith(`${DIGEST}/7`), status)).toBe(status);
  });

  test("is inverted for a backward copy", () => {
    expect(reflectRollout(copyWith(`${DIGEST}/7@1/3-`), status)).toEqual({
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 2,
      updatedReplicas: 1,
      updatedReadyReplicas: 1,
      updatedAvailableReplicas: 1,
      expectedUpdatedReplicas: 1,
      currentRevision: "web-1",
      rolloutStage: `${DIGEST}/7@1/3-`,
    });
  });

  test.each([
    ["counts the pods of an earlier template", "-0=1", { updatedReplicas: 1, expectedUpdatedReplicas: 1 }, 0],
    ["rolls pods back beside one of another template", "-0+1=0", { updatedReplicas: 0, expectedUpdatedReplicas: 0 }, 2],
  ])("names the pods of the release for a copy that %s", (_what, step, want, expected) => {
    const stage = `${DIGEST}/7@0/3${step}`;
    const reported = { ...status, expectedUpdatedReplicas: expected };

    expect(reflectRollout(copyWith(stage), reported)).toMatchObject({ ...want, layerPods: 2, rolloutStage: stage });
  });
});

describe("a waiting rollout", () => {
  const copies = (oslo: string, paris: string): Map<string, KubernetesObject> =>
    new Map([
      ["oslo", copyWith(oslo)],
      ["paris", copyWith(paris)],
    ]);
  const shares = [
    { cluster: "oslo", replicas: 3 },
    { cluster: "paris", replicas: 3, held: "behind" as const, observed: { rolloutStage: `${DIGEST}/5@1/3` } },
  ];

  test("is reported when the other members have no pods left", () => {
    expect(heldRollout(copies(`${DIGEST}/1@3/3`, `${DIGEST}/1@1/3`), shares)).toEqual({
      demanded: 5,
      waiting: 1,
      clusters: ["paris"],
    });
  });

  test.each([
    ["it was asked for that before and has not answered", `${DIGEST}/1@1/3^3-`, {}],
    ["it was asked for that last and has not answered", `${DIGEST}/1@3/3`, {}],
    ["it reports that it has not gone down yet", `${DIGEST}/1@1/3-`, { updatedReplicas: 3 }],
  ])("is reported when the others leave room for a member that may run more, because %s", (_why, paris, status) => {
    const unsure = [
      { cluster: "oslo", replicas: 3 },
      {
        cluster: "paris",
        replicas: 3,
        held: "unsure" as const,
        observed: { rolloutStage: `${DIGEST}/5@1/3`, ...status },
      },
    ];

    expect(heldRollout(copies(`${DIGEST}/1@2/3`, paris), unsure)).toEqual({
      demanded: 5,
      waiting: 2,
      clusters: ["paris"],
    });
  });

  test("is not reported while the others proceed, or when no member is held", () => {
    expect(heldRollout(copies(`${DIGEST}/1@2/3`, `${DIGEST}/1@1/3`), shares)).toBeUndefined();
    expect(
      heldRollout(copies(`${DIGEST}/1@3/3`, `${DIGEST}/1@1/3`), [
        { cluster: "oslo", replicas: 3 },
        { cluster: "paris", replicas: 3 },
      ]),
    ).toBeUndefined();
  });
});
