export { createMonitoring, monitoringMetrics, type Monitoring } from "./create-monitoring.ts";
export { createDeliveryMeter, deliveryMetrics } from "./delivery-meter.ts";
export { createExecutionMeter, executionMetrics } from "./pipeline-meter.ts";
export { buildMetrics, laneMetrics, writeBuild, writeLanes } from "./state-gauges.ts";
export {
  createWorkloadMetrics,
  membersPageMetrics,
  workloadMetrics,
  type WorkloadMetrics,
} from "./workload-metrics.ts";
