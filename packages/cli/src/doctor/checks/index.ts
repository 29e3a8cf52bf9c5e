/**
 * All checks, in report order. New checks are added here, with their tests beside them; a test compares docs/doctor.md
 * with this list.
 */
import type { DoctorCheck } from "../doctor-check.ts";
import { agentsCheck } from "./agents.ts";
import { apisCheck } from "./apis.ts";
import { autoscalingCheck } from "./autoscaling.ts";
import { bindingsCheck } from "./bindings.ts";
import { certificatesCheck } from "./certificates.ts";
import { clocksCheck } from "./clocks.ts";
import { dataCheck } from "./data.ts";
import { driftCheck } from "./drift.ts";
import { finalizersCheck } from "./finalizers.ts";
import { hubCheck } from "./hub.ts";
import { interpretersCheck } from "./interpreters.ts";
import { joinsCheck } from "./joins.ts";
import { membersCheck } from "./members.ts";
import { ocmCheck } from "./ocm.ts";
import { openkruiseCheck } from "./openkruise.ts";
import { policiesCheck } from "./policies.ts";
import { releasesCheck } from "./releases.ts";
import { versionsCheck } from "./versions.ts";
import { workloadsCheck } from "./workloads.ts";
import { webhooksCheck } from "./webhooks.ts";
import { worksCheck } from "./works.ts";

export const CHECKS: readonly DoctorCheck[] = [
  hubCheck,
  dataCheck,
  certificatesCheck,
  clocksCheck,
  membersCheck,
  agentsCheck,
  joinsCheck,
  versionsCheck,
  apisCheck,
  webhooksCheck,
  openkruiseCheck,
  policiesCheck,
  bindingsCheck,
  worksCheck,
  releasesCheck,
  workloadsCheck,
  autoscalingCheck,
  ocmCheck,
  interpretersCheck,
  driftCheck,
  finalizersCheck,
];
