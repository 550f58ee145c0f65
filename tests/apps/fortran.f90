! fortran: the Fortran interface of PAPI's low level: init, create, add,
! start, read, stop, cleanup. The pages come from mmap, so that they are
! fresh and their faults known; the CPUs from glibc.
! usage: fortran [event]
module pages
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_size_t), parameter :: page = 4096
  integer(c_int8_t), pointer, volatile :: arena(:)
  interface
    function mmap(at, length, prot, flags, fd, offset) bind(c, name='mmap')
      import
      type(c_ptr), value :: at
      integer(c_size_t), value :: length
      integer(c_int), value :: prot, flags, fd
      integer(c_long), value :: offset
      type(c_ptr) :: mmap
    end function
    function madvise(at, length, advice) bind(c, name='madvise')
      import
      type(c_ptr), value :: at
      integer(c_size_t), value :: length
      integer(c_int), value :: advice
      integer(c_int) :: madvise
    end function
    function sched_getcpu() bind(c, name='sched_getcpu')
      import
      integer(c_int) :: sched_getcpu
    end function
    function sched_setaffinity(tid, length, mask) bind(c, name='sched_setaffinity')
      import
      integer(c_int), value :: tid
      integer(c_size_t), value :: length
      integer(c_long) :: mask
      integer(c_int) :: sched_setaffinity
    end function
  end interface
contains
  ! PROT_READ|WRITE, MAP_PRIVATE|ANONYMOUS, MADV_NOHUGEPAGE of Linux
  subroutine make_arena(n)
    integer, intent(in) :: n
    type(c_ptr) :: at
    integer :: ret

    at = mmap(c_null_ptr, n * page, 3, 34, -1, 0_c_long)
    ret = madvise(at, n * page, 15)
    call c_f_pointer(at, arena, [n * page])
  end subroutine

  subroutine touch(from, n)
    integer, intent(in) :: from, n
    integer :: i

    do i = from, from + n - 1
      arena(1 + (i - 1) * page) = 1_c_int8_t
    end do
  end subroutine

  ! Pins it to its current CPU; a refusal does no harm.
  subroutine stay()
    integer(c_long) :: mask

    mask = ishft(1_c_long, sched_getcpu())
    if (sched_setaffinity(0, 8_c_size_t, mask) /= 0) continue
  end subroutine
end module

program fortran
  use pages
  implicit none
  include 'f90papi.h'
  character(len=128) :: event
  integer :: set, code, check, cpu(2)
  integer(8) :: values(2, 1)

  event = 'perf::PAGE-FAULTS'
  if (command_argument_count() > 0) call get_command_argument(1, event)
  check = PAPI_VER_CURRENT
  call papif_library_init(check)
  if (check /= PAPI_VER_CURRENT) call cannot('papif_library_init', check)
  set = PAPI_NULL
  call papif_create_eventset(set, check)
  call must('papif_create_eventset', check)
  call papif_event_name_to_code(trim(event), code, check)
  if (check /= PAPI_OK) call cannot('papif_event_name_to_code', check)
  call papif_add_event(set, code, check)
  if (check /= PAPI_OK) call cannot('papif_add_event', check)

  call make_arena(4000)
  call stay()
  values = 0
  cpu = sched_getcpu()
  call papif_start(set, check)
  call must('papif_start', check)
  call touch(1, 1000)
  call papif_read(set, values(1, 1), check)
  call must('papif_read', check)
  cpu(1) = sched_getcpu()
  call touch(1001, 3000)
  call papif_stop(set, values(2, 1), check)
  call must('papif_stop', check)
  cpu(2) = sched_getcpu()

  call handed(cpu(1), values(1, 1), 'PAPI_read', 1000)
  call handed(cpu(2), values(2, 1) - values(1, 1), 'PAPI_stop', 3000)
  call papif_cleanup_eventset(set, check)
  call must('papif_cleanup_eventset', check)
  call papif_destroy_eventset(set, check)
  call must('papif_destroy_eventset', check)
contains
  subroutine handed(on, value, by, touched)
    integer, intent(in) :: on, touched
    integer(8), intent(in) :: value
    character(len=*), intent(in) :: by

    print '(a,i0,3a,i0,2a)', 'handed cpu=', on, ' event=', trim(event), &
      ' value=', value, ' by=', by
    if (event == 'perf::PAGE-FAULTS' .and. value /= touched) then
      print '(a,i0,a)', 'wrong: ', touched, ' pages were touched'
      stop 1
    end if
  end subroutine

  subroutine must(what, code)
    character(len=*), intent(in) :: what
    integer, intent(in) :: code

    if (code == PAPI_OK) return
    print '(2a,i0)', what, ': ', code
    stop 1
  end subroutine

  subroutine cannot(what, code)
    character(len=*), intent(in) :: what
    integer, intent(in) :: code

    print '(3a,i0)', 'cannot count here: ', what, ': ', code
    stop 77
  end subroutine
end program
