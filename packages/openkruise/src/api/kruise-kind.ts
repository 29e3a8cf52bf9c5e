/**
 * The shared parts of OpenKruise's kinds: a status, schemas from its CRDs, and either v1alpha1 alone or two versions of
 * which the newer is stored.
 */
import { defined } from "@flotilla/base";
import { definitionSchema, describedKind, lazyVersion } from "@flotilla/apimachinery";
import type {
  Column,
  FieldDescriptions,
  Kind,
  KindVersion,
  KubernetesObject,
  WorkloadTraits,
} from "@flotilla/apimachinery";

/** Workloads that `kubectl scale` and autoscalers can scale. */
const SCALE = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".status.labelSelector",
};

/** OpenKruise's own CRDs have no label of their kind; ours do, so that a policy can select them all. */
const DEFINITION_LABELS = { "kruise.io/schema-gen": "true" };

interface KruiseKind {
  group?: "policy.kruise.io" | "rollouts.kruise.io";
  kind: string;
  plural: string;
  shortNames?: string[];
  scope?: Kind["scope"];
  columns: Column[];
  /** Where v1alpha1 has its values at other paths. */
  v1alpha1Columns?: Column[];
  hasScale?: true;
  workload?: WorkloadTraits;
  /** For kinds that the newest release has only in v1alpha1; the others have it in their CRD. */
  v1beta1Schema?: () => KindVersion["schema"];
  /** Between v1alpha1 and v1beta1. Without a conversion the kind has v1alpha1 alone. */
  conversion?: Pick<KindVersion, "toStorage" | "fromStorage">;
  /** Of the fields of both versions. */
  descriptions: FieldDescriptions;
}

export function kruiseKind<T extends KubernetesObject>(of: KruiseKind): Kind<T> {
  const {
    group = "apps.kruise.io",
    kind,
    plural,
    shortNames,
    scope = "Namespaced",
    columns,
    hasScale,
    conversion,
    descriptions,
  } = of;
  const schemaOf = (version: string) => (): KindVersion["schema"] => definitionSchema(`${plural}.${group}`, version);
  return describedKind({
    group,
    kind,
    plural,
    shortNames,
    scope,
    storageVersion: conversion ? "v1beta1" : "v1alpha1",
    versions: {
      ...defined({ v1beta1: conversion ? lazyVersion(columns, of.v1beta1Schema ?? schemaOf("v1beta1")) : undefined }),
      v1alpha1: lazyVersion(of.v1alpha1Columns ?? columns, schemaOf("v1alpha1"), conversion),
    },
    subresources: { status: true, ...defined({ scale: hasScale ? SCALE : undefined }) },
    builtIn: false,
    hasGeneration: true,
    definitionLabels: DEFINITION_LABELS,
    workload: of.workload,
    descriptions,
  });
}
