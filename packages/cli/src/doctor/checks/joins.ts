/** Reports clusters that wait to be accepted. */
import { CertificateSigningRequest, requestState } from "@flotilla/kubernetes";
import { RBAC_GENERATOR_REQUEST_PREFIX } from "@flotilla/karmada";
import { CLUSTER_NAME_LABEL, ManagedCluster } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { formatAge } from "@flotilla/apimachinery";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { counted } from "../../text-layout.ts";

export interface JoinFacts {
  managed: readonly DeepReadonly<ManagedCluster>[];
  requests: readonly DeepReadonly<CertificateSigningRequest>[];
}

export const joinsCheck = defineCheck<JoinFacts>({
  name: "joins",
  summary: "no cluster waits to be accepted",
  reports:
    "A warning for each ManagedCluster that the hub has not accepted, and for each certificate request " +
    "that has been pending for longer than `--stuck-after`; for the request of a waiting `karmadactl " +
    "register`, at once. A problem for a request that was approved and not signed.",
  async gather({ lists, only }) {
    const [managed, requests] = await Promise.all([lists.all(ManagedCluster), lists.all(CertificateSigningRequest)]);
    return {
      managed: managed.filter(({ metadata }) => !only || only.has(metadata.name)),
      requests: requests.filter(({ metadata }) => !only || only.has(metadata.labels?.[CLUSTER_NAME_LABEL] ?? "")),
    };
  },
  judge({ managed, requests }, { nowMs, stuckAfterMs }) {
    const waiting = managed.filter(
      ({ metadata, spec }) => spec.hubAcceptsClient !== true && metadata.deletionTimestamp === undefined,
    );
    const accepted = waiting.map(({ metadata: { name, creationTimestamp } }): DoctorFinding => ({
      severity: "warning",
      about: `cluster ${name}`,
      seen: `It asked to join ${formatAge(nowMs - Date.parse(creationTimestamp ?? ""))} ago, and the hub has not accepted it.`,
      fix: "Accept it if you know it, otherwise delete it.",
      commands: [`flotilla accept ${name}`, `kubectl delete managedcluster ${name}`],
    }));
    const names = new Set(waiting.map(({ metadata }) => metadata.name));
    let pending = 0;
    const asked = requests.flatMap((request): DoctorFinding[] => {
      const {
        metadata: { name, labels, creationTimestamp },
        spec,
      } = request;
      const { approved, denied, failed, issued } = requestState(request);
      const age = nowMs - Date.parse(creationTimestamp ?? "");
      const cluster = labels?.[CLUSTER_NAME_LABEL];
      const isGenerator = name.startsWith(RBAC_GENERATOR_REQUEST_PREFIX);
      if (denied || issued || (age <= stuckAfterMs && !(isGenerator && !approved))) return [];
      if (failed || approved)
        return [
          {
            severity: "problem",
            about: `CertificateSigningRequest ${name}`,
            seen: `It was approved ${formatAge(age)} ago and ${failed ? "could not be signed" : "is not signed"}${failed ? `: ${failureOf(request)}` : ""}.`,
            fix: "Check that the hub supports its signer, and read its conditions.",
            commands: [`kubectl describe csr ${name}`],
          },
        ];
      pending += 1;
      // The cluster itself is reported above, with one command for both.
      if (cluster !== undefined && names.has(cluster)) return [];
      return [
        {
          severity: "warning",
          about: `CertificateSigningRequest ${name}`,
          seen:
            `${spec.username ?? "an unknown user"} requested it ${formatAge(age)} ` +
            `ago${cluster === undefined ? "" : `, for cluster ${cluster}`}.${isGenerator ? " 'karmadactl register' waits for it." : ""}`,
          fix:
            cluster === undefined
              ? "Approve it if you know the requester, otherwise deny it."
              : "Accept the cluster if you know it.",
          commands:
            cluster === undefined
              ? [`kubectl certificate approve ${name}`, `kubectl certificate deny ${name}`]
              : [`flotilla accept ${cluster}`],
        },
      ];
    });
    return {
      seen:
        waiting.length + pending === 0
          ? "no cluster waits"
          : `${counted(waiting.length, "cluster")} not accepted, ${counted(pending, "request")} pending`,
      findings: [...accepted, ...asked],
    };
  },
});

const failureOf = ({ status }: DeepReadonly<CertificateSigningRequest>): string =>
  status?.conditions?.find(({ type }) => type === "Failed")?.message ?? "no reason is given";
