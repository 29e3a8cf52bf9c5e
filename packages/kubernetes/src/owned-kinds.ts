/** The kinds that workload controllers own, indexed by their owners. */
import type { Kind } from "@flotilla/apimachinery";
import type { Informers } from "@flotilla/controller-runtime";
import { ControllerRevision } from "./controllerrevision/controllerrevision-kind.ts";
import { Job } from "./job/job-kind.ts";
import { PersistentVolumeClaim } from "./persistentvolumeclaim/persistentvolumeclaim-kind.ts";
import { Pod } from "./pod/pod-kind.ts";
import { ReplicaSet } from "./replicaset/replicaset-kind.ts";
import { indexOwners } from "./workloads/ownership.ts";

const OWNED_KINDS: readonly Kind[] = [ReplicaSet, ControllerRevision, Job, PersistentVolumeClaim, Pod];

/** Call it once for the informers that the controllers share. */
export const indexByController = (informers: Informers): void => indexOwners(informers, OWNED_KINDS);
