/**
 * Maintains a ServiceAccount `default` in every namespace of every cluster.
 *
 * Reads: Namespace, ServiceAccount.
 * Writes: ServiceAccount, if it is missing; nothing else.
 */
import { Namespace } from "../../namespace/namespace-kind.ts";
import { ServiceAccount } from "../../serviceaccount/serviceaccount-kind.ts";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, watch, type Controller } from "@flotilla/controller-runtime";
import type { SystemDependencies } from "../dependencies.ts";
import { createInNamespace, isTerminating } from "../namespaces.ts";
import { DEFAULT_ACCOUNT, defaultServiceAccount } from "./default-account.ts";

export function createServiceAccountController({
  client,
  informers,
}: Pick<SystemDependencies, "client" | "informers">): Controller<ObjectKey> {
  return defineController({
    name: "service-accounts",
    for: Namespace,
    watches: [
      watch(ServiceAccount, ({ cluster, object: { metadata }, deleted }) =>
        deleted && metadata.name === DEFAULT_ACCOUNT && metadata.namespace
          ? [{ cluster, name: metadata.namespace }]
          : [],
      ),
    ],
    writes: [ServiceAccount],

    async reconcile(namespace, { key: { cluster, name }, signal }) {
      if (
        isTerminating(namespace) ||
        informers.of(ServiceAccount).get({ cluster, namespace: name, name: DEFAULT_ACCOUNT })
      )
        return done;
      await createInNamespace(client, ServiceAccount, cluster, defaultServiceAccount(name), signal);
      return done;
    },
  });
}
