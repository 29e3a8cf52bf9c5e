/**
 * All checks, in the order in which they are told. A check is added here, with its tests beside it; docs/doctor.md is
 * held against this list.
 */
import type { DoctorCheck } from "../check.ts";
import { agentsCheck } from "./agents.ts";
import { apisCheck } from "./apis.ts";
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
import { versionsCheck } from "./versions.ts";
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
  openkruiseCheck,
  policiesCheck,
  bindingsCheck,
  worksCheck,
  ocmCheck,
  interpretersCheck,
  driftCheck,
  finalizersCheck,
];
