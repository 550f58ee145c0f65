! walkf: does the same as walk.c, in Fortran: 5 units on CPU 0 and 15 on CPU 2, with a reading in
! between or without ("once").
program walkf
	use iso_c_binding
	implicit none
	include 'f90papi.h'
	interface
		subroutine walk_ready() bind(c)
		end subroutine
		subroutine walk_pin(cpu) bind(c)
			import
			integer(c_int), value :: cpu
		end subroutine
		subroutine walk_units(units) bind(c)
			import
			integer(c_int), value :: units
		end subroutine
	end interface
	integer :: set, check
	integer(c_long_long) :: first(2), second(2)
	character(len=8) :: how

	call get_command_argument(1, how)
	check = PAPI_VER_CURRENT
	call PAPIF_library_init(check)
	if (check /= PAPI_VER_CURRENT) stop 77
	set = PAPI_NULL
	call PAPIF_create_eventset(set, check)
	call PAPIF_add_named_event(set, 'PAPI_TOT_INS', check)
	if (check /= PAPI_OK) stop 77
	call PAPIF_add_named_event(set, 'PAPI_TOT_CYC', check)
	if (check /= PAPI_OK) stop 77
	call walk_pin(0)
	call walk_ready()
	first = 0
	call PAPIF_start(set, check)
	call walk_units(5)
	if (how == 'read') call PAPIF_read(set, first, check)
	call walk_pin(2)
	call walk_units(15)
	call PAPIF_stop(set, second, check)
	if (check /= PAPI_OK) stop 1
	if (how == 'read') call handed(first)
	call handed(second - first)
	print '(a)', 'did cpu=0 units=5', 'did cpu=2 units=15'
contains
	subroutine handed(values)
		integer(c_long_long) :: values(2)

		print '(a,i0)', 'handed event=PAPI_TOT_INS value=', values(1), 'handed event=PAPI_TOT_CYC value=', values(2)
	end subroutine
end program
