/**
 * Injects the matching sets into a new pod: adds their containers, init containers, volumes and pull secrets, and
 * records the injection in annotations. Pure.
 */
import { SIDECAR_SET_HASH_ANNOTATION, SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION } from "./sidecarset-hash.ts";
import { compareText, formatTime, omitZero, omitEmpty } from "@flotilla/base";
import { matchesLabels } from "@flotilla/apimachinery";
import { isActive, isSidecar } from "@flotilla/kubernetes";
import type { ReadonlyPod, ReadonlyRevision, NamespaceLabels } from "@flotilla/kubernetes";
import { hotAnnotations, hotContainers, hotNames } from "./hot-upgrade.ts";
import { inInjectionOrder, isPodOfSet, selectorOfPart } from "./match.ts";
import {
  INJECTED_LIST_ANNOTATION,
  SidecarError,
  WORKING_CONTAINER_ANNOTATION,
  injectedSets,
  isHotUpgrade,
  sidecarNames,
  withAnnotations,
} from "./sidecarset-names.ts";
import type { ReadonlyContainer, ReadonlySidecarSet, SidecarContainer } from "./sidecarset-names.ts";
import { patchAnnotations } from "./patch-metadata.ts";
import { formatRecords, formatWorking, readRecords, workingContainers } from "./records.ts";
import type { HashAnnotation, SidecarRecord } from "./records.ts";
import { chosenRevision, setAtRevision } from "./sidecarset-revisions.ts";
import { buildSidecar } from "./sidecars.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

export interface InjectionInput {
  pod: ReadonlyPod;
  /** All sets of the cluster, by name. */
  sets: readonly ReadonlySidecarSet[];
  labelsOf: NamespaceLabels;
  /** The revisions of all sets; called only if a set injects another revision than its latest. */
  revisions(): readonly ReadonlyRevision[];
  gates: FeatureGates;
  /** From 0 up to 1, for sets that inject two revisions in a ratio. */
  chance(): number;
  nowMs: number;
}

/**
 * The pod with its sidecars; the same object if no set matches. Throws `SidecarError` for content that cannot be
 * injected, and `ApiError` for an invalid selector.
 */
export function injectSidecars(input: InjectionInput): ReadonlyPod {
  const { pod, labelsOf } = input;
  if (!isActive(pod)) return pod;
  const candidates = inInjectionOrder(input.sets, pod.metadata.namespace || "default");
  const sets = candidates
    .filter((set) => !set.spec.injectionStrategy?.paused && isPodOfSet(pod, set, labelsOf))
    .map((set) => suitableRevision(set, input));
  if (sets.length === 0) return pod;
  const annotations = pod.metadata.annotations ?? {};
  const patchedAnnotations = sets.reduce(
    (patched, { spec }) => patchAnnotations(patched, spec.patchPodMetadata),
    annotations,
  );
  const patched =
    patchedAnnotations === annotations
      ? pod
      : { ...pod, metadata: { ...pod.metadata, annotations: patchedAnnotations } };
  return withSidecars(patched, sets, input);
}

/** The current set, or the set at the revision of its injectionStrategy. */
function suitableRevision(set: ReadonlySidecarSet, { pod, revisions, chance }: InjectionInput): ReadonlySidecarSet {
  const { injectionStrategy, updateStrategy } = set.spec;
  const wanted = injectionStrategy?.revision;
  if (!wanted || (wanted.revisionName === undefined && wanted.customVersion === undefined)) return set;
  const revision = chosenRevision(set, revisions());
  if (!revision)
    throw new SidecarError(
      wanted.revisionName === undefined
        ? `ControllerRevision.apps ${JSON.stringify(set.metadata.name)} not found`
        : `controllerrevisions.apps ${JSON.stringify(wanted.revisionName)} not found`,
    );
  const old = setAtRevision(set, revision);
  if (updateStrategy?.paused || wanted.policy !== "Partial") return old;
  if (updateStrategy?.selector && !matchesLabels(selectorOfPart(updateStrategy.selector), pod.metadata.labels))
    return old;
  const { partition } = updateStrategy ?? {};
  if (typeof partition !== "string") return set;
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?%$/i.test(partition))
    throw new SidecarError(
      `the partition ${JSON.stringify(partition)} of SidecarSet ${set.metadata.name} is not a percentage`,
    );
  return chance() <= Number(partition.slice(0, -1)) / 100 ? old : set;
}

function withSidecars(
  pod: ReadonlyPod,
  sets: readonly ReadonlySidecarSet[],
  { gates, nowMs }: InjectionInput,
): ReadonlyPod {
  const withImage = readHashes(pod, SIDECAR_SET_HASH_ANNOTATION);
  const withoutImage = readHashes(pod, SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION);
  const working = workingContainers(pod);
  const notes: Record<string, string> = {};
  const names = new Set(injectedSets(pod));
  const initContainers: SidecarContainer[] = [];
  const containers: SidecarContainer[] = [];
  const volumes: NonNullable<ReadonlyPod["spec"]["volumes"]>[number][] = [];

  for (const set of sets) {
    const { spec, metadata, status } = set;
    names.add(metadata.name);
    const inject = (container: SidecarContainer, into: SidecarContainer[], isHot: boolean): void => {
      const built = buildSidecar(pod, set, container, sets);
      volumes.push(...built.volumes);
      if (!isHot) return void into.push(built.container);
      into.push(...hotContainers(built.container));
      working.set(container.name, hotNames(container.name)[0]);
      Object.assign(notes, hotAnnotations(container.name), { [WORKING_CONTAINER_ANNOTATION]: formatWorking(working) });
    };
    for (const container of spec.initContainers ?? [])
      inject(container, initContainers, isSidecar(container) && isHotUpgrade(container));
    for (const container of spec.containers ?? []) inject(container, containers, isHotUpgrade(container));
    if ((spec.initContainers?.length ?? 0) + (spec.containers?.length ?? 0) === 0) continue;
    const record: SidecarRecord = {
      updateTimestamp: formatTime(nowMs),
      hash: "",
      sidecarSetName: metadata.name,
      sidecarList: sidecarNames(set),
    };
    const { latestRevision } = status ?? {};
    withImage.set(metadata.name, {
      ...record,
      hash: metadata.annotations?.[SIDECAR_SET_HASH_ANNOTATION] ?? "",
      ...omitZero({ controllerRevision: latestRevision }),
    });
    withoutImage.set(metadata.name, {
      ...record,
      hash: metadata.annotations?.[SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION] ?? "",
    });
  }
  if (initContainers.length + containers.length === 0) return pod;

  const annotated = withAnnotations(pod, {
    ...notes,
    [SIDECAR_SET_HASH_ANNOTATION]: formatRecords(withImage),
    [SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION]: formatRecords(withoutImage),
    [INJECTED_LIST_ANNOTATION]: [...names].toSorted().join(","),
  });
  const inName = (a: SidecarContainer, b: SidecarContainer): number => compareText(a.name, b.name);
  const init = joined(pod.spec.initContainers, initContainers.toSorted(inName));
  const allVolumes = unique(pod.spec.volumes ?? [], volumes, true);
  const secrets = unique(
    pod.spec.imagePullSecrets ?? [],
    sets.flatMap(({ spec }) => spec.imagePullSecrets ?? []),
    false,
  );
  return {
    ...annotated,
    spec: {
      ...pod.spec,
      ...omitEmpty({ initContainers: init }),
      containers: joined(
        pod.spec.containers,
        gates.isOn("EnableSortSidecarContainerByName") ? containers.toSorted(inName) : containers,
      ),
      ...omitEmpty({ volumes: allVolumes, imagePullSecrets: secrets }),
    },
  };
}

function readHashes({ metadata }: ReadonlyPod, annotation: HashAnnotation): Map<string, SidecarRecord> {
  const text = metadata.annotations?.[annotation];
  if (!text) return new Map();
  const records = readRecords(text);
  if (!records)
    throw new SidecarError(
      `pod(${metadata.namespace ?? ""}/${metadata.name ?? ""}) invalid annotations[${annotation}] value ${text}, unmarshal failed`,
    );
  return new Map(records);
}

/** A sidecar replaces a container of the same name; the others come before or after those of the pod. */
function joined(own: readonly ReadonlyContainer[] = [], sidecars: readonly SidecarContainer[]): ReadonlyContainer[] {
  const result = [...own];
  const before: ReadonlyContainer[] = [];
  const after: ReadonlyContainer[] = [];
  for (const sidecar of sidecars) {
    const index = own.findLastIndex(({ name }) => name === sidecar.name);
    if (index >= 0) result[index] = plainContainer(sidecar);
    else (sidecar.podInjectPolicy === "BeforeAppContainer" ? before : after).push(plainContainer(sidecar));
  }
  return [...before, ...result, ...after];
}

/** Without the fields that only sets have. */
function plainContainer(sidecar: SidecarContainer): ReadonlyContainer {
  const {
    podInjectPolicy: _,
    upgradeStrategy: __,
    shareVolumePolicy: ___,
    shareVolumeDevicePolicy: ____,
    transferEnv: _____,
    resourcesPolicy: ______,
    ...container
  } = sidecar;
  return container;
}

/** Each name once; the pod's own entry wins. Duplicate volumes of the pod are kept: the server rejects such a pod. */
function unique<T extends { readonly name?: string }>(own: readonly T[], more: readonly T[], keepsOwn: boolean): T[] {
  const names = new Set(keepsOwn ? own.map(({ name }) => name) : []);
  const fresh = (keepsOwn ? more : [...own, ...more]).filter(({ name }) => {
    const isNew = !names.has(name);
    names.add(name);
    return isNew;
  });
  return keepsOwn ? [...own, ...fresh] : fresh;
}
