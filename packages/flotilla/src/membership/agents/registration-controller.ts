/**
 * Keeps the permissions of an agent that registered through Karmada's API as long as its Cluster exists, and until its
 * certificate expires if it never creates one.
 *
 * Reads: Clusters, the execution namespaces, the ClusterRoles of agents.
 * Writes: roles and bindings named `system:karmada:<cluster>:agent…`. `agent-request-controller.ts` creates them.
 */
import { agentUser, Cluster, clusterNameOf, clusterOfAgentRole } from "@flotilla/karmada";
import { ClusterRole, ClusterRoleBinding, Namespace, Role, RoleBinding } from "@flotilla/kubernetes";
import type { Clock } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, watch } from "@flotilla/controller-runtime";
import type { Controller, Lister } from "@flotilla/controller-runtime";
import { planRegistrationState } from "./plan-registration.ts";
import type { RegisteredAccess } from "./registered-access.ts";

export interface RegistrationDependencies {
  hub: string;
  clusters: Lister<Cluster>;
  access: RegisteredAccess;
  clock: Clock;
}

export function createRegistrationController({
  hub,
  clusters,
  access,
  clock,
}: RegistrationDependencies): Controller<ObjectKey> {
  const keyed = (name: string | undefined): ObjectKey[] => (name === undefined ? [] : [{ cluster: hub, name }]);
  return defineKeyedController<ObjectKey>({
    name: "agent-registration",
    writes: [ClusterRole, ClusterRoleBinding, Role, RoleBinding],
    idOf: idOfKey,
    sources: [
      watch(Cluster, ({ object, old, deleted }) =>
        !old || deleted || old.spec.syncMode !== object.spec.syncMode ? keyed(object.metadata.name) : [],
      ),
      watch(ClusterRole, ({ object }) => keyed(clusterOfAgentRole(object.metadata.name))),
      watch(Namespace, ({ object, old }) => (old ? [] : keyed(clusterNameOf(object.metadata.name)))),
    ],
    async reconcile({ name }, { log, signal }) {
      const cluster = clusters.get({ cluster: hub, name });
      const plan = planRegistrationState({
        hasRole: access.hasRole(name),
        registration: access.registrationOf(name),
        cluster: cluster && { isPull: cluster.spec.syncMode === "Pull" },
        agent: agentUser(name),
        nowMs: clock.now(),
      });
      if (plan.type === "remove") {
        if (access.hasRole(name)) log.info("permissions of the agent removed", { member: name });
        await access.revoke(name, signal);
      }
      if (plan.type !== "keep") return done;
      await access.grant(name, plan.registration, signal);
      return plan.recheckAfterMs === undefined ? done : { requeueAfterMs: plan.recheckAfterMs };
    },
  });
}
