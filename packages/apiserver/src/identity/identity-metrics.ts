/** Metrics of who may do what: calls of authorization webhooks, and configurations that changed while the server ran. */
import { counter, Counts, gauge } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";
import { authorizationMetrics, AuthorizationMetrics } from "./authorization-metrics.ts";

const RELOADED = "by status: success or failure. After a failure the one before stays in use.";
const LAST = "When the last such change was seen, in seconds since 1970.";

/** Kubernetes' names, where it has them. */
const KUBERNETES = {
  "--authentication-config": {
    total: counter(
      "apiserver_authentication_config_controller_automatic_reloads_total",
      `Changes of the authentication configuration, ${RELOADED}`,
      "status",
    ),
    last: gauge(
      "apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds",
      `Changes of the authentication configuration: ${LAST}`,
      "status",
    ),
  },
  "--authorization-config": {
    total: counter(
      "apiserver_authorization_config_controller_automatic_reloads_total",
      `Changes of the authorization configuration, ${RELOADED}`,
      "status",
    ),
    last: gauge(
      "apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds",
      `Changes of the authorization configuration: ${LAST}`,
      "status",
    ),
  },
} as const;
const FILES = counter(
  "flotilla_configuration_reloads_total",
  `Changes of files with authorities or kubeconfigs of webhooks, by the flag that names them and ${RELOADED}`,
  "flag",
  "status",
);

export const identityMetrics: readonly Metric[] = [
  ...authorizationMetrics,
  ...Object.values(KUBERNETES).flatMap(({ total, last }) => [total, last]),
  FILES,
];

export type ReloadStatus = "success" | "failure";
interface Family {
  total: Counts;
  last: Metric;
  lastMs: Map<ReloadStatus, number>;
}

export class IdentityMetrics {
  readonly authorization = new AuthorizationMetrics();
  readonly #families = new Map<string, Family>(
    Object.entries(KUBERNETES).map(([flag, { total, last }]) => [
      flag,
      { total: new Counts(total), last, lastMs: new Map() },
    ]),
  );
  readonly #files = new Counts(FILES);

  /** The configuration of this flag changed. */
  reloaded(flag: string, status: ReloadStatus, nowMs: number): void {
    const family = this.#families.get(flag);
    if (!family) return this.#files.add([flag, status]);
    family.total.add([status]);
    family.lastMs.set(status, nowMs);
  }

  write(text: MetricsText): void {
    this.authorization.write(text);
    for (const { total, last, lastMs } of this.#families.values()) {
      total.write(text);
      text.family(last);
      for (const [status, ms] of lastMs) text.sample(last.name, [["status", status]], ms / 1000);
    }
    this.#files.write(text);
  }
}
