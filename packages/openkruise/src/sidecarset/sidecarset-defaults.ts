/** Defaults of a SidecarSet in OpenKruise's webhook, and the hashes that it writes. */
import { CUSTOM_VERSION_LABEL } from "../api/kruise-names.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { Review } from "@flotilla/apimachinery";
import { defaultContainer, defaultVolume } from "@flotilla/kubernetes";
import type { Volume } from "@flotilla/apimachinery/facts/core-v1.ts";
import { change, changeItems, fill } from "@flotilla/apimachinery";
import {
  SIDECAR_SET_HASH_ANNOTATION,
  SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION,
  sidecarSetHashes,
} from "./sidecarset-hash.ts";
import type {
  SidecarContainer,
  SidecarSet,
  SidecarSetPatchPodMetadata,
  SidecarSetSpec,
  TransferEnvVar,
} from "./sidecarset-types.ts";
import { isHub } from "../api/webhook.ts";

type Read<T> = DeepReadonly<T>;

export function completeSidecarSet(set: Read<SidecarSet>, review: Review<SidecarSet>): Read<SidecarSet> {
  return withHashes(change(isHub(review) ? withOwnVersion(set, review) : set, "spec", completeSpec));
}

/**
 * A set that injects its own version refers to itself. OpenKruise looks for a revision with that version before the set
 * exists, and rejects it. Since any member may be new, the set propagated to members has the version and no injection
 * revision.
 */
export function withOwnVersion(
  set: Read<SidecarSet>,
  review: Pick<Review<SidecarSet>, "oldObject" | "warn">,
): Read<SidecarSet> {
  const { injectionStrategy } = set.spec ?? {};
  const { revision, ...strategy } = injectionStrategy ?? {};
  const asked = revision?.customVersion;
  if (asked === undefined || revision?.revisionName !== undefined) return set;
  // The version of a set is a label in v1alpha1 and a field in v1beta1.
  const isAlpha = set.apiVersion === "apps.kruise.io/v1alpha1";
  const own =
    (isAlpha ? set.metadata.labels?.[CUSTOM_VERSION_LABEL] : set.spec.customVersion) ??
    (review.oldObject ? undefined : asked);
  if (asked !== own) return set;
  review.warn(
    "spec.injectionStrategy.revision.customVersion: members reject a version that they do not have yet; " +
      `the set itself was given version ${JSON.stringify(own)} ` +
      `(${isAlpha ? `the label ${CUSTOM_VERSION_LABEL}` : "spec.customVersion"}), and its newest revision is ` +
      "injected",
  );
  const { injectionStrategy: _asked, ...others } = set.spec;
  const spec = { ...others, injectionStrategy: Object.keys(strategy).length > 0 ? strategy : undefined };
  if (isAlpha)
    return {
      ...set,
      metadata: { ...set.metadata, labels: { ...set.metadata.labels, [CUSTOM_VERSION_LABEL]: own } },
      spec,
    };
  return { ...set, spec: { ...spec, customVersion: own } };
}

/**
 * The only default that the CRD declares for containers. A server sets it before webhooks run, and it is part of the
 * hash.
 */
export function fillDefinitionDefaults(set: Read<SidecarSet>): Read<SidecarSet> {
  const filled = (list: readonly Read<SidecarContainer>[]): readonly Read<SidecarContainer>[] =>
    changeItems<SidecarContainer>(list, (container) =>
      change(container, "resourcesPolicy", (policy) => fill(policy, { targetContainersNameRegex: ".*" })),
    );
  return change(set, "spec", (spec) => change(change(spec, "initContainers", filled), "containers", filled));
}

function completeSpec(given: Read<SidecarSetSpec>): Read<SidecarSetSpec> {
  let spec: Read<SidecarSetSpec> = fill(given, { updateStrategy: {}, revisionHistoryLimit: 10 });
  spec = change(spec, "updateStrategy", (strategy) =>
    fill(strategy, { type: "RollingUpdate", maxUnavailable: 1, partition: 0 }),
  );
  spec = change(spec, "initContainers", (list) =>
    changeItems<SidecarContainer>(list, (container) => completeContainer(container, "AfterAppContainer")),
  );
  spec = change(spec, "containers", (list) =>
    changeItems<SidecarContainer>(list, (container) => completeContainer(container, "BeforeAppContainer")),
  );
  spec = change(spec, "volumes", (list) => changeItems<Volume>(list, (volume) => defaultVolume(volume, true)));
  spec = change(spec, "patchPodMetadata", (list) =>
    changeItems<SidecarSetPatchPodMetadata>(list, (patch) => fill(patch, { patchPolicy: "Retain" })),
  );
  return change(spec, "injectionStrategy", (strategy) =>
    change(strategy, "revision", (revision) => fill(revision, { policy: "Always" })),
  );
}

function completeContainer(given: Read<SidecarContainer>, podInjectPolicy: string): Read<SidecarContainer> {
  // Upstream does not default this probe, and it is part of the hash.
  const { startupProbe, ...plain } = given;
  let container: Read<SidecarContainer> = fill(defaultContainer(plain as Read<SidecarContainer>, true), {
    podInjectPolicy,
    upgradeStrategy: {},
    shareVolumePolicy: {},
  });
  if (startupProbe) container = { ...container, startupProbe };
  container = change(container, "upgradeStrategy", (strategy) => fill(strategy, { upgradeType: "ColdUpgrade" }));
  container = change(container, "shareVolumePolicy", (policy) => fill(policy, { type: "disabled" }));
  return change(container, "transferEnv", (list) =>
    changeItems<TransferEnvVar>(list, (variable) =>
      change(variable, "sourceContainerNameFrom", (source) =>
        change(source, "fieldRef", (ref) => fill(ref, { apiVersion: "v1" })),
      ),
    ),
  );
}

function withHashes(set: Read<SidecarSet>): Read<SidecarSet> {
  const { hash, hashWithoutImage } = sidecarSetHashes(set.spec);
  const { annotations } = set.metadata;
  if (
    annotations?.[SIDECAR_SET_HASH_ANNOTATION] === hash &&
    annotations[SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION] === hashWithoutImage
  )
    return set;
  return {
    ...set,
    metadata: {
      ...set.metadata,
      annotations: {
        ...annotations,
        [SIDECAR_SET_HASH_ANNOTATION]: hash,
        [SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION]: hashWithoutImage,
      },
    },
  };
}
