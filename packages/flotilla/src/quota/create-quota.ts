/** Wires the quotas of the fleet to informers and clients of a hub. */
import type { Clock } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { createOwnedSet } from "@flotilla/controller-runtime";
import type { Controller, EventRecorders, Informers } from "@flotilla/controller-runtime";
import {
  Cluster,
  clusterNameOf,
  FederatedResourceQuota,
  QUOTA_NAME,
  QUOTA_NAMESPACE,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import { createQuotaController } from "./quota-controller.ts";

const BY_QUOTA = "federated-quota";

export interface QuotaOptions {
  hub: string;
  informers: Informers;
  clientFor(part: string): Client;
  events: EventRecorders;
  clock: Clock;
}

export function createQuota(options: QuotaOptions): Controller<ObjectKey> {
  const { hub, informers, clientFor, events, clock } = options;
  const client = clientFor("quota");
  const works = informers.of(Work);
  const idOf = (namespace: string, name: string): string => `${namespace}/${name}`;
  works.addIndex(BY_QUOTA, ({ metadata }) => {
    const { [QUOTA_NAMESPACE]: namespace, [QUOTA_NAME]: name } = metadata.labels ?? {};
    // Outside execution namespaces a Work belongs to no member, and its labels are untrusted.
    return namespace && name && clusterNameOf(metadata.namespace ?? "") !== undefined ? [idOf(namespace, name)] : [];
  });
  const worksOf = ({ namespace = "", name }: ObjectKey): ReturnType<typeof works.by> =>
    works.by(BY_QUOTA, idOf(namespace, name));
  return createQuotaController({
    hub,
    client,
    quotas: informers.of(FederatedResourceQuota),
    bindings: informers.of(ResourceBinding),
    clusters: informers.of(Cluster),
    worksOf,
    works: createOwnedSet<Work, ObjectKey>({ client, kind: Work, clusterOf: () => hub, current: worksOf }),
    events: events("federated-resource-quota-sync-controller"),
    clock,
  });
}
