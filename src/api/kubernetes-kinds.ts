/** The kinds of Kubernetes that every logical cluster serves, in the order of their groups in discovery. */
import { CustomResourceDefinition } from "./apiextensions/custom-resource-definition.ts";
import { ControllerRevision } from "./apps/controller-revision.ts";
import { Deployment } from "./apps/deployment.ts";
import { ReplicaSet } from "./apps/replica-set.ts";
import { Lease } from "./coordination/lease.ts";
import { ConfigMap } from "./core/config-map.ts";
import { Event } from "./core/event.ts";
import { Namespace } from "./core/namespace.ts";
import { Node } from "./core/node.ts";
import { Pod } from "./core/pod.ts";
import { Secret } from "./core/secret.ts";
import { ServiceAccount } from "./core/service-account.ts";
import { Service } from "./core/service.ts";
import type { Kind } from "./kind.ts";

export const kubernetesKinds: readonly Kind[] = [
  Namespace,
  ConfigMap,
  Secret,
  ServiceAccount,
  Service,
  Pod,
  Node,
  Event,
  Deployment,
  ReplicaSet,
  ControllerRevision,
  Lease,
  CustomResourceDefinition,
];
