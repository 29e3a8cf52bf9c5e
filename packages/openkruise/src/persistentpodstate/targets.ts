/** The kinds whose pods a PersistentPodState records. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { StatefulSet } from "@flotilla/kubernetes";
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import type { PersistentPodState } from "./persistentpodstate-kind.ts";

export type TargetReference = DeepReadonly<PersistentPodState>["spec"]["targetRef"];
export type ReadonlyPodState = DeepReadonly<PersistentPodState>;

/** The fields of both kinds that matter here. */
export interface Target extends KubernetesObject {
  spec?: { replicas?: number; reserveOrdinals?: (number | string)[]; ordinals?: { start?: number } };
}

const asTarget = (kind: unknown): Kind<Target> => kind as Kind<Target>;

export const TARGET_KINDS: readonly Kind<Target>[] = [asTarget(StatefulSet), asTarget(AdvancedStatefulSet)];

export const targetKindOf = ({
  apiVersion,
  kind,
}: Pick<TargetReference, "apiVersion" | "kind">): Kind<Target> | undefined =>
  TARGET_KINDS.find((one) => one.kind === kind && one.group === parseApiVersion(apiVersion).group);
