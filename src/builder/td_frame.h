/* td_frame.h: a frame's life. */
#ifndef TD_BUILDER_FRAME_H
#define TD_BUILDER_FRAME_H

#include "builder/td_builder_private.h"

/* td_frame_open starts a fresh frame; false: memory ran out (close it all the same). */
bool td_frame_open(td_builder_t *b, td_abi_frame_v1 const *in);

/* td_frame_deepen says how many Python frames the reference has left where the next root
   is built: a frame's roots are built from one depth, those of somebody else's context are
   not. */
void td_frame_deepen(td_builder_t *b, int recursion_left);

/* td_frame_close gives back everything but the frame state, whose entries must
   have been spelled (td_frame_state_spell).  Without an open frame it does nothing.
   Giving references back may run finalisers of the program's objects. */
void td_frame_close(td_builder_t *b);

#endif
