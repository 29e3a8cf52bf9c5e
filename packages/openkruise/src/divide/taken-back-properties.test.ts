/**
 * Releases on a model of members that update pods as OpenKruise does, in any order: a raised partition changes exactly
 * the pods asked for, and the highest one restores what ran before the release, also during another release.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { runs, seedOr } from "@flotilla/testing/runs.ts";
import { cloneSetInterpreter } from "../cloneset/cloneset-interpreter.ts";
import { KEPT_TEMPLATE, takeKeptTemplate } from "./member-stage.ts";
import { keptPods, letThrough, sumOf } from "./split-partition.ts";

type CloneSet = Parameters<NonNullable<typeof cloneSetInterpreter.divide>>[0];
type Op = { do: "release" | "partition"; partition: number };

/** Copies until a member has nothing left to do: two per earlier template, and one that is written forward. */
const MAX_ROUNDS = 16;
const RUNS = runs(120);
const SEED = seedOr(17);

const imageOf = (copy: DeepReadonly<KubernetesObject>): string =>
  (copy as unknown as { spec: { template: { image: string } } }).spec.template.image;

class Member {
  readonly name: string;
  readonly size: number;
  readonly pods: string[];
  private readonly draw: () => number;
  copy?: DeepReadonly<KubernetesObject>;
  observed?: Json;
  private current = "";
  private generation = 0;

  constructor(name: string, size: number, draw: () => number) {
    this.name = name;
    this.size = size;
    this.draw = draw;
    this.pods = Array.from({ length: size }, () => "");
  }

  /** Carries out a copy and reports, unless it is the one that it has. */
  apply(rendered: DeepReadonly<KubernetesObject>): boolean {
    const { object, kept } = takeKeptTemplate(rendered);
    const { annotations } = object.metadata;
    const copy =
      kept === undefined
        ? object
        : { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [KEPT_TEMPLATE]: kept } } };
    if (JSON.stringify(copy) === JSON.stringify(this.copy)) return false;
    this.copy = copy;
    this.generation++;
    this.update(copy);
    this.observed = this.report(copy);
    return true;
  }

  private update({ spec }: CloneSet): void {
    const image = imageOf(this.copy as KubernetesObject);
    const { partition, priorityStrategy } = spec?.updateStrategy?.rollingUpdate ?? {};
    const first = priorityStrategy?.weightPriority?.[0]?.matchSelector.matchLabels?.["pod-template-hash"];
    const isNew = this.pods.every((pod) => pod === "");
    const waiting = [...this.pods.keys()]
      .filter((index) => this.pods[index] !== image)
      .map((index) => ({ index, rank: (hashOf(this.pods[index] ?? "") === first ? 0 : 1) + this.draw() }))
      .sort((a, b) => a.rank - b.rank);
    const missing = letThrough(partition, this.size) - (this.size - waiting.length);
    // A new CloneSet has one template.
    for (const { index } of waiting.slice(0, isNew ? this.size : Math.max(0, missing))) this.pods[index] = image;
    if (this.pods.every((pod) => pod === image)) this.current = image;
  }

  private report(copy: CloneSet): Json | undefined {
    const image = imageOf(copy);
    const updated = this.pods.filter((pod) => pod === image).length;
    const partition = copy.spec?.updateStrategy?.rollingUpdate?.partition;
    const status = {
      replicas: this.size,
      readyReplicas: this.size,
      availableReplicas: this.size,
      updatedReplicas: updated,
      updatedReadyReplicas: updated,
      expectedUpdatedReplicas: this.size - keptPods(partition, this.size),
      observedGeneration: this.generation,
      updateRevision: `web-${hashOf(image)}`,
      currentRevision: `web-${hashOf(this.current)}`,
    };
    const object = { ...copy, metadata: { ...copy.metadata, generation: this.generation }, status };
    return cloneSetInterpreter.reflectStatus?.(object);
  }
}

const hashOf = (image: string): string => image.replace("web:", "h");

function play(sizes: readonly number[], ops: readonly Op[], seed: number): void {
  let state = seed;
  const draw = (): number => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  const members = sizes.map((size, index) => new Member(`m${index}`, size, draw));
  const total = sumOf(sizes);
  let version = 1;
  const settle = (partition: number): void => {
    const object = {
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "CloneSet",
      metadata: { name: "web" },
      spec: {
        replicas: total,
        template: { image: `web:${version}` },
        updateStrategy: { rollingUpdate: { partition } },
      },
    } as unknown as CloneSet;
    for (let round = 0; ; round++) {
      expect(round).toBeLessThan(MAX_ROUNDS);
      const shares = members.map(({ name, size, copy, observed }): Share => ({
        cluster: name,
        replicas: size,
        isWhole: false,
        copy,
        observed,
      }));
      const copies = cloneSetInterpreter.divide?.(object, shares);
      if (!members.map((member) => member.apply(copies?.get(member.name) as CloneSet)).includes(true)) return;
    }
  };
  const images = (): string[] => members.flatMap(({ pods }) => pods);
  const sorted = (): string => JSON.stringify(members.map(({ pods }) => pods.toSorted()));

  settle(0);
  let before = sorted();
  let last = 0;
  /** Releases in a row that began while the one before was not complete. */
  let unfinished = 0;
  // A new CloneSet has no template to return to.
  for (const op of [{ do: "release" as const, partition: total }, ...ops]) {
    if (op.do === "release") {
      version++;
      before = sorted();
      unfinished = new Set(images()).size > 1 ? unfinished + 1 : 0;
    }
    const partition = op.do === "release" ? Math.max(1, op.partition) : op.partition;
    const was = images();
    settle(partition);

    const now = images();
    const image = `web:${version}`;
    const asked = total - Math.min(total, partition);
    const changed = now.flatMap((each, index) => (each === was[index] ? [] : [`${was[index]} ${each}`]));
    expect(now.filter((each) => each === image)).toHaveLength(asked);
    expect(changed).toHaveLength(Math.abs(asked - was.filter((each) => each === image).length));
    const isRaised = op.do === "partition" && partition > last;
    expect(changed.filter((each) => isRaised && !each.startsWith(`${image} `))).toEqual([]);
    // Of three and more earlier versions it is not known which of the older ones a release has reached.
    expect(asked === 0 && unfinished <= 1 ? sorted() : before).toBe(before);
    last = partition;
  }
}

test("a raised partition changes exactly the pods asked for, and the highest restores what ran before", () => {
  const op = fc.record({
    do: fc.constantFrom("release" as const, "partition" as const, "partition" as const, "partition" as const),
    partition: fc.integer({ min: 0, max: 14 }),
  });
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 4 }),
      fc.array(op, { minLength: 3, maxLength: 12 }),
      fc.nat(),
      play,
    ),
    { seed: SEED, numRuns: RUNS },
  );
});
