/** Views that are loaded when they are opened first. */
import type { ComponentType } from "preact";
import type { ViewProps } from "../view.ts";

export const viewChunks = {
  workloads: async () => (await import("./workloads.tsx")).WorkloadsView,
  matrix: async () => (await import("./matrix.tsx")).MatrixView,
  problems: async () => (await import("./problems.tsx")).ProblemsView,
  apply: async () => (await import("./apply.tsx")).ApplyView,
  ocm: async () => (await import("./ocm.tsx")).OcmView,
  history: async () => (await import("./history.tsx")).HistoryView,
  workload: async () => (await import("./workload.tsx")).WorkloadView,
  member: async () => (await import("./member.tsx")).MemberView,
} satisfies Record<string, () => Promise<ComponentType<ViewProps>>>;
export type ChunkName = keyof typeof viewChunks;
