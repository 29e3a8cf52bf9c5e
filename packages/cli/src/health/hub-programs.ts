/** The programs of others that the hub's API server calls: admission and conversion webhooks, aggregated servers. Pure. */
import { formatAge } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { availabilityOf } from "@flotilla/kubernetes";
import type { APIService } from "@flotilla/kubernetes";
import { samplesOf } from "./metrics-samples.ts";
import type { Sample } from "./metrics-samples.ts";

export interface HubPrograms {
  services: readonly DeepReadonly<APIService>[];
  /** Calls in a row that failed, by webhook. */
  failing: readonly Sample[];
  /** Calls in a row that failed, by definition. */
  failingConversions: readonly Sample[];
}

/** `metrics`: the hub's page. */
export const hubProgramsOf = (services: readonly DeepReadonly<APIService>[], metrics: string): HubPrograms => ({
  services: services.filter(({ spec }) => spec.service !== undefined),
  failing: samplesOf(metrics, "flotilla_admission_webhook_failures"),
  failingConversions: samplesOf(metrics, "flotilla_conversion_webhook_failures"),
});

export interface BrokenProgram {
  kind: "admission webhook" | "conversion webhook" | "APIService";
  name: string;
  seen: string;
  fix: string;
  commands: string[];
}

const calls = (count: number): string => `${count} ${count === 1 ? "call" : "calls"}`;

export const isFailing = ({ value }: Sample): boolean => value > 0;
export const isUnavailable = (service: DeepReadonly<APIService>): boolean => availabilityOf(service)?.status !== "True";

export function brokenPrograms({ services, failing, failingConversions }: HubPrograms, nowMs: number): BrokenProgram[] {
  return [
    ...failing.filter(isFailing).map(({ labels, value }): BrokenProgram => ({
      kind: "admission webhook",
      name: labels["name"] ?? "",
      seen: `Its last ${calls(value)} failed. Requests that it is for fail if its failurePolicy is Fail, and are carried out without it otherwise.`,
      fix: "Restore its server, or delete its configuration. The hub's log has the reason.",
      commands: [
        `kubectl get ${labels["type"] ?? "validating"}webhookconfiguration ${labels["configuration"] ?? "NAME"} -o yaml`,
      ],
    })),
    ...failingConversions.filter(isFailing).map(({ labels, value }): BrokenProgram => ({
      kind: "conversion webhook",
      name: labels["crd_name"] ?? "",
      seen: `Its last ${calls(value)} failed. Objects cannot be read or written in versions other than the stored one.`,
      fix: "Restore its server. The hub's log has the reason.",
      commands: [`kubectl get crd ${labels["crd_name"] ?? "NAME"} -o yaml`],
    })),
    ...services.filter(isUnavailable).map((service): BrokenProgram => {
      const { name } = service.metadata;
      const { reason = "", message = "", lastTransitionTime } = availabilityOf(service) ?? {};
      const since = lastTransitionTime === undefined ? "" : ` for ${formatAge(nowMs - Date.parse(lastTransitionTime))}`;
      return {
        kind: "APIService",
        name,
        seen:
          reason === ""
            ? "It has not been checked yet."
            : `It is unavailable${since}: ${message} (${reason}). Its kinds cannot be used, and Namespaces cannot be deleted.`,
        fix: "Restore its server, or delete the APIService.",
        commands: [`kubectl describe apiservice ${name}`],
      };
    }),
  ];
}
