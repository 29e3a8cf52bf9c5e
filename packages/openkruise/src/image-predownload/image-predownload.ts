/** Pre-download: the images of an in-place update are pulled before the pods are updated. */
import type { KruiseFeature } from "../api/kruise-definition.ts";
import { createPreDownloadControllers } from "./predownload-controllers.ts";

export const imagePreDownload: KruiseFeature = { controllers: createPreDownloadControllers };
