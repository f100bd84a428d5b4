import { english, type Text } from "./en";

export const chinese: Text = english;
