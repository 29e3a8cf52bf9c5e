/**
 * What `flotilla` needs to parse a command line. Every command loads this, so nothing here may load kinds or controllers;
 * what a command needs is imported by its own file, which is loaded when it runs.
 */
export type { AgentRunOptions, RegisterOptions, Registered } from "./agent-options.ts";
export type {
  ClusterConnection,
  Command,
  CommandContext,
  Flag,
  HubConnection,
  KubeconfigAccess,
  OfflineHub,
  HubKeyFiles,
  KeyStep,
  Snapshots,
  StandbyState,
  Stores,
} from "./command.ts";
export { SECTIONS } from "./command.ts";
export { commands } from "./commands.ts";
export { completeLine } from "./completion/complete.ts";
export {
  defaultDataDirectory,
  kubeconfigPath,
  lastSnapshotPath,
  lastStartPath,
  logPath,
  parseLastStart,
  startCommandOf,
} from "./data-directory.ts";
export type { LastStart } from "./data-directory.ts";
export { checkKubeconfig } from "./membership/hub-kubeconfig.ts";
export { hubOnly } from "./membership/hub-only.ts";
export type { DoctorFinding } from "./doctor/doctor-check.ts";
export type { DoctorReport } from "./doctor/run-checks.ts";
export type {
  AuditOptions,
  ControllerOptions,
  ControllersStanding,
  AuthorizationOptions,
  IdentityOptions,
  FleetStarter,
  HubProcessOptions,
  Roles,
  StoreOptions,
} from "./fleet-starter.ts";
export { PROGRAM, asCalled, flagText, renderHelp, renderOverview, usageOf } from "./help.ts";
export { commandHint } from "./command-hint.ts";
export { fleetQuestions } from "./fleet-questions.ts";
export type { FleetSummaries } from "./fleet-questions.ts";
export type { FleetStatus, MemberStatus } from "./status/fleet-status.ts";
export { fromPackage, seekKubectl } from "./kubectl.ts";
export type { Kubectl } from "./kubectl.ts";
export type { Terminal } from "./terminal.ts";
export { createOutput } from "./output.ts";
export { createPaint } from "./paint.ts";
export type { Paint } from "./paint.ts";
export { asksForJson, flagsOf, parseCommandLine, sharedFlags } from "./parse.ts";
export type { Parsed } from "./parse.ts";
export { readZipEntry } from "./zip.ts";
