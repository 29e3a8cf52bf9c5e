/** What every view receives. */
import type { Route } from "./router.ts";

export interface ViewProps {
  route: Route;
}
