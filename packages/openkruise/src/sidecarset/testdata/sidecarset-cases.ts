/**
 * Runs SidecarSets on recorded inputs and returns results in the format of the recordings
 * (`openkruise-sidecarset.jsonl`). Only for tests and `npm run golden`.
 */
import { evaluateExpression } from "../resource-expression.ts";
import { sidecarSetHashedText, sidecarSetHashes } from "../sidecarset-hash.ts";
import { makeRevision } from "@flotilla/kubernetes";
import type { Namespace, ReadonlyPod, NamespaceLabels } from "@flotilla/kubernetes";
import type { SidecarSet } from "../sidecarset-kind.ts";
import type { SidecarSetPatchPodMetadata } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { FlotillaError, messageOf, defined } from "@flotilla/base";
import { ApiError, formatQuantity, goJson, parseQuantity } from "@flotilla/apimachinery";
import { isHotUpgradeReady, isHotUpgrading } from "../hot-upgrade.ts";
import { injectSidecars } from "../inject.ts";
import { isPodOfSet } from "../match.ts";
import { patchAnnotations } from "../patch-metadata.ts";
import { resourceValue } from "../resources.ts";
import { sidecarSetRevisions } from "../sidecarset-revisions.ts";
import { choosePodsToUpgrade } from "../select.ts";
import { planSidecarSetStatus } from "../sidecarset-status.ts";
import { flipPod, upgradePod } from "../upgrade-pod.ts";
import { RECORDED_AT, gatesOf } from "../../testdata/read-cases.ts";
import type { GatedInput, RecordedRun } from "../../testdata/read-cases.ts";

/** An error message for users is a result, too. */
const orError =
  <I>(run: (input: I) => unknown) =>
  (input: I): unknown => {
    try {
      return run(input);
    } catch (error) {
      if (error instanceof FlotillaError || error instanceof ApiError) return { error: messageOf(error) };
      throw error;
    }
  };

const labelsOf =
  (namespaces: readonly Namespace[] = []): NamespaceLabels =>
  (name) => {
    const found = namespaces.find(({ metadata }) => metadata.name === name);
    return found && (found.metadata.labels ?? {});
  };

const names = (pods: readonly ReadonlyPod[]): string[] => pods.map(({ metadata }) => metadata.name);

export const sidecarSetCases: Readonly<Record<string, RecordedRun>> = {
  hash: orError(({ sidecarSet }: { sidecarSet: SidecarSet }) => {
    const { metadata, data } = makeRevision(sidecarSetRevisions, sidecarSet, 1, 0);
    return {
      ...sidecarSetHashes(sidecarSet.spec),
      hashedText: sidecarSetHashedText(sidecarSet.spec),
      revisionName: metadata.name,
      revisionData: goJson(data as never),
      revisionLabels: metadata.labels,
      revisionAnnotations: metadata.annotations,
    };
  }),

  hashV1alpha1: orError(({ sidecarSetV1alpha1: { spec } }: { sidecarSetV1alpha1: SidecarSet }) => ({ ...sidecarSetHashes(spec), hashedText: sidecarSetHashedText(spec) })),

  match: orError(({ sidecarSet, pod, namespaces }: { sidecarSet: SidecarSet; pod: ReadonlyPod; namespaces?: Namespace[] }) => ({ matched: isPodOfSet(pod, sidecarSet, labelsOf(namespaces)) })),

  inject: orError(({ gates, pod, sidecarSets, history = [], namespaces }: GatedInput & { pod: ReadonlyPod; sidecarSets: SidecarSet[]; history?: SidecarSet[]; namespaces?: Namespace[] }) => {
    const revisions = history.map((set, index) => {
      const revision = makeRevision(sidecarSetRevisions, set, index + 1, 0);
      return { ...revision, metadata: { ...revision.metadata, name: set.status?.latestRevision ?? "" } };
    });

    const injected = injectSidecars({ pod, sets: sidecarSets, labelsOf: labelsOf(namespaces), revisions: () => revisions, gates: gatesOf(gates), chance: () => 0.5, nowMs: RECORDED_AT });

    return injected === pod ? { skipped: true } : { pod: injected };
  }),

  patchMetadata: orError(({ metadata: { annotations = {} }, patches }: { metadata: { annotations?: Record<string, string> }; patches: SidecarSetPatchPodMetadata[] }) => {
    const patched = patchAnnotations(annotations, patches);
    return { annotations: patched, skip: patched === annotations };
  }),

  resourceExpression: orError(({ expression, variable, isLimit }: { expression: string; variable: string; isLimit: boolean }) => {
    if (expression === "") return { value: isLimit ? null : "0" };
    const value = resourceValue(expression, parseQuantity(variable));
    return typeof value === "string" ? { error: `failed to parse expression ${JSON.stringify(expression)}: ${value}` } : { value: formatQuantity(value) };
  }),

  calculator: orError(({ expression }: { expression: string }) => {
    const result = evaluateExpression(expression);
    if ("problem" in result) return { error: result.problem };
    const { value } = result;
    return typeof value === "number" ? { isQuantity: false, value: String(value) } : { isQuantity: true, value: formatQuantity(value) };
  }),

  selectPods: orError(({ sidecarSet, pods }: { sidecarSet: SidecarSet; pods: ReadonlyPod[] }) => {
    const { upgrade, notUpgradable } = choosePodsToUpgrade(sidecarSet, pods);
    return { upgrade: names(upgrade), notUpgradable: names(notUpgradable) };
  }),

  status: orError(({ sidecarSet, pods = [], latestRevision }: { sidecarSet: SidecarSet; pods?: ReadonlyPod[]; latestRevision: string }) => ({ status: planSidecarSetStatus(sidecarSet, pods, latestRevision, 0) })),

  upgradePod: orError(({ sidecarSet, pod }: { sidecarSet: SidecarSet; pod: ReadonlyPod }) => {
    const shown = ({ metadata, spec }: ReadonlyPod): object => ({ metadata, containers: spec.containers });
    const hotUpgrading = isHotUpgrading(sidecarSet, pod);
    const hotUpgradeReady = isHotUpgradeReady(sidecarSet, pod);
    return { ...shown(upgradePod(pod, sidecarSet, RECORDED_AT)), hotUpgrading, hotUpgradeReady, ...defined({ afterFlip: hotUpgrading && hotUpgradeReady ? shown(flipPod(pod, sidecarSet, RECORDED_AT)) : undefined }) };
  }),
};
