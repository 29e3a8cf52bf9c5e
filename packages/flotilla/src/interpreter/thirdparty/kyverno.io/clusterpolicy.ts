/** Kyverno ClusterPolicy: rules for a whole cluster, in every served version. */
import { policyInterpreter } from "./kyverno-rules.ts";

export const clusterPolicyInterpreter = policyInterpreter("ClusterPolicy");
