import { createContext, useContext } from 'react';

/** Opens a step's form beside the graph, in place of what is there. */
export const OpenStep = createContext<(stepId: string | undefined) => void>(() => {});

/** The way to a step's form, for parts of the editor that name a step. */
export const useOpenStep = () => useContext(OpenStep);
