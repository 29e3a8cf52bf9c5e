/** Every metric of Flotilla, by page: the source of the reference, and of a test that checks the pages. */
import {
  aggregationMetrics,
  auditMetrics,
  identityMetrics,
  conversionMetrics,
  policyMetrics,
  flowMetrics,
  serverMetrics,
  webhookMetrics,
} from "@flotilla/apiserver";
import { processMetrics } from "@flotilla/base";
import type { Metric } from "@flotilla/base";
import {
  decisionMetrics,
  hookMetrics,
  membersPageMetrics,
  monitoringMetrics,
  scriptMetrics,
  workloadMetrics,
} from "@flotilla/flotilla";
import { controllerMetrics } from "@flotilla/controller-runtime";
import { agentMetrics, sharedAgentMetrics } from "./agent/agent-metrics.ts";

export interface MetricsPage {
  title: string;
  path: string;
  about: string;
  metrics: readonly Metric[];
}

const MEMBER = "member_cluster";
/** Metrics that every controller exposes. */
const everyProcess: readonly Metric[] = [...controllerMetrics, ...scriptMetrics, ...hookMetrics, ...processMetrics];

export const metricsPages: readonly MetricsPage[] = [
  {
    title: "The hub",
    path: "/metrics",
    about:
      "The API server as in Kubernetes, the controllers as in controller-runtime, the pipeline and the " +
      "members under Karmada's names, Placements under Open Cluster Management's, and Flotilla's own " +
      "metrics as `flotilla_…`.",
    metrics: [
      ...serverMetrics,
      ...webhookMetrics,
      ...policyMetrics,
      ...conversionMetrics,
      ...flowMetrics,
      ...aggregationMetrics,
      ...auditMetrics,
      ...identityMetrics,
      ...everyProcess,
      ...monitoringMetrics,
      ...decisionMetrics,
    ],
  },
  {
    title: "All members",
    path: "/metrics/members",
    about:
      "Workloads on the members, under the names of kruise-state-metrics and kube-state-metrics, with the " +
      "member as `member_cluster`. `?cluster=NAME` selects one member.",
    metrics: [
      ...workloadMetrics.map((metric) => ({ ...metric, labels: [MEMBER, ...metric.labels] })),
      ...membersPageMetrics,
    ],
  },
  {
    title: "One simulated member",
    path: "/clusters/NAME/metrics",
    about:
      "Its API server, and its workloads without the label `member_cluster`, as kruise-state-metrics exposes them on a real cluster.",
    metrics: [
      ...serverMetrics,
      ...webhookMetrics,
      ...policyMetrics,
      ...conversionMetrics,
      ...flowMetrics,
      ...aggregationMetrics,
      ...processMetrics,
      ...workloadMetrics,
    ],
  },
  {
    title: "An agent",
    path: "/metrics",
    about: "Served by `flotilla agent --metrics-address HOST:PORT`.",
    metrics: [...agentMetrics, ...sharedAgentMetrics, ...everyProcess],
  },
];
