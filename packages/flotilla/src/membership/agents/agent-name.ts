/** Which names a cluster that registers through Karmada's API may have. Pure. */
import { agentUser, clusterNameProblem, impersonationSecretName, RBAC_GENERATOR_USER } from "@flotilla/karmada";

/** Undefined for a valid name. */
export function agentNameProblem(cluster: string): string | undefined {
  const problem = clusterNameProblem(cluster);
  if (problem !== undefined) return `"${cluster}" is not a valid cluster name: ${problem}`;
  if (agentUser(cluster) === RBAC_GENERATOR_USER) return `"${cluster}" is reserved for 'karmadactl register'`;
  // The agent of a-impersonator could read and write the Secret with which the hub impersonates users on cluster a.
  return cluster.endsWith(impersonationSecretName(""))
    ? `"${cluster}" ends in ${impersonationSecretName("")}, which names a Secret of another cluster`
    : undefined;
}
